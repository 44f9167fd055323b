//! `DISCARD`
//!
//! Drops the queued commands, and stops watching keys.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "discard",
    arity: 1,
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::ALLOW_BUSY)
        .and(Flags::UNQUEUED),
    acl: Acl::TRANSACTION,
    group: Group::Transactions,
    summary: "Drops the commands that a transaction has queued.",
    since: "2.0.0",
    complexity: "O(N), N being the number of queued commands.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if call.client().transaction.is_none() {
        return Err(ClientError::DiscardWithoutMulti.into());
    }
    call.state.discard(call.id);
    reply.ok();
    Ok(Flow::Done)
}
