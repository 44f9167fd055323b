//! `MULTI`
//!
//! From here on commands are queued, until `EXEC` runs or `DISCARD` drops them.

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
    name: "multi",
    arity: 1,
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::NO_MULTI)
        .and(Flags::ALLOW_BUSY),
    acl: Acl::TRANSACTION,
    group: Group::Transactions,
    summary: "Starts to queue commands, to be executed as one.",
    since: "1.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.state.begin_transaction(call.id);
    reply.ok();
    Ok(Flow::Done)
}
