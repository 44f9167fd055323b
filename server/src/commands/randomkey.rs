//! `RANDOMKEY`
//!
//! Replies with the name of some key, or null if there is none.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "randomkey",
    arity: 1,
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    tips: &[
        "request_policy:all_shards",
        "response_policy:special",
        "nondeterministic_output",
    ],
    summary: "Picks a key by chance.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    match call.store().random_key(db) {
        Some(key) => reply.bulk(key),
        None => reply.null(),
    }
    Ok(Flow::Done)
}
