//! `DBSIZE`
//!
//! Replies with the number of keys; those that are due but not removed yet count.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "dbsize",
    arity: 1,
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    tips: &["request_policy:all_shards", "response_policy:agg_sum"],
    group: Group::Server,
    summary: "Counts the keys of the database.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let len = call.store().db_len(db);

    reply.unsigned(len as u64);
    Ok(Flow::Done)
}
