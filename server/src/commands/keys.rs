//! `KEYS pattern`
//!
//! Replies with the names of all keys that match a glob pattern.
//!
//! Behaviour worth knowing:
//! - It looks at every key of the database while nobody else is served; `SCAN` does not.
//! - The key with the empty name matches `*` and the empty pattern, but not `**`.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Case;
use tailrace_storage::glob_matches;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "keys",
    arity: 2,
    syntax: "pattern",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE.and(Acl::DANGEROUS),
    tips: &["request_policy:all_shards", "nondeterministic_output_order"],
    summary: "Lists all keys whose names match a pattern.",
    complexity: "O(N), N being the number of keys in the database.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let pattern = args.bytes()?;

    let db = call.db;
    let start = reply.mark();
    let mut count = 0;
    for (key, _) in call.store().keys(db) {
        if pattern == b"*" || glob_matches(pattern, key, Case::Sensitive) {
            reply.bulk(key);
            count += 1;
        }
    }
    reply.insert_array(start, count);
    Ok(Flow::Done)
}
