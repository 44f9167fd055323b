//! `COMMAND COUNT`

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command|count",
    arity: 2,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Server,
    summary: "Returns the number of commands.",
    since: "2.8.13",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.unsigned(call.state.commands.all().len() as u64);
    Ok(Flow::Done)
}
