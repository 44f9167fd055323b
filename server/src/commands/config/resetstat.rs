//! `CONFIG RESETSTAT`

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::TO_ALL_NODES;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "config|resetstat",
    arity: 2,
    flags: FLAGS,
    tips: TO_ALL_NODES,
    group: Group::Server,
    summary: "Sets the counters of INFO back to zero.",
    since: "2.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.state.stats.reset();
    call.state.slot_stats.reset();
    call.store().reset_stats();
    reply.ok();
    Ok(Flow::Done)
}
