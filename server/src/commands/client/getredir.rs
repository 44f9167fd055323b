//! `CLIENT GETREDIR`
//!
//! Replies with the number of the client that hears of changes in place of this one: 0 if it hears itself,
//! -1 if its keys are not tracked.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::list::redirect;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|getredir",
    arity: 2,
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Tells where invalidations go.",
    since: "6.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.integer(redirect(call.client()));
    Ok(Flow::Done)
}
