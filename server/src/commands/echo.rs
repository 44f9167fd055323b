//! `ECHO message`
//!
//! Replies with the message.

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
    name: "echo",
    arity: 2,
    syntax: "message",
    flags: Flags::LOADING.and(Flags::STALE).and(Flags::FAST),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Returns the message.",
    since: "1.0.0",
    ..Spec::of(run)
};

fn run(
    _: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.bulk(args.bytes()?);
    Ok(Flow::Done)
}
