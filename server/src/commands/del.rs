//! `DEL key [key ...]` and `UNLINK key [key ...]`
//!
//! Delete keys and reply with how many there were.
//!
//! Behaviour worth knowing:
//! - A key that is named twice counts once.
//! - Both free the memory at once.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const DEL: Spec = Spec {
    name: "del",
    arity: -2,
    syntax: "key...",
    flags: Flags::WRITE,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::all(1, &["RM", "delete"])],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    summary: "Deletes keys of any type.",
    complexity: "O(N), N being the number of keys and, for streams, of their nodes.",
    ..Spec::of(run)
};

pub(super) const UNLINK: Spec = Spec {
    name: "unlink",
    arity: -2,
    syntax: "key...",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::all(1, &["RM", "delete"])],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    summary: "Deletes keys of any type.",
    since: "4.0.0",
    complexity: "O(N), N being the number of keys and, for streams, of their nodes.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let store = call.store();
    let removed = args.filter(|key| store.remove(db, key)).count();

    reply.unsigned(removed as u64);
    Ok(Flow::Done)
}
