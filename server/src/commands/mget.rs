//! `MGET key [key ...]`
//!
//! Replies with the strings; null stands for a missing key and for one that holds something else.

use tailrace_protocol::ReplyWriter;

use super::encode;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "mget",
    arity: -2,
    syntax: "key...",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::all(1, &["RO", "access"])],
    tips: &["request_policy:multi_shard"],
    group: Group::String,
    summary: "Returns several strings.",
    complexity: "O(N), N being the number of keys.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let store = call.store();

    reply.array(args.len());
    for key in args {
        let value = store.read(db, key);
        encode::string_or_null(reply, value.and_then(|value| value.as_string().ok()));
    }
    Ok(Flow::Done)
}
