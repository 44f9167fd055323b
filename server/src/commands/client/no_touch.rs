//! `CLIENT NO-TOUCH ON | OFF`
//!
//! Sets whether what the client does leaves the access times of keys alone; `TOUCH` never does.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::switch;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|no-touch",
    arity: 3,
    syntax: "enabled(ON|OFF)",
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Lets the client leave access times alone.",
    since: "7.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.client().no_touch = switch(&mut args)?;
    reply.ok();
    Ok(Flow::Done)
}
