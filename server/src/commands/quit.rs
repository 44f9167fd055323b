//! `QUIT`
//!
//! Replies `OK` and closes the connection. What was sent behind it is not executed.

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
    name: "quit",
    arity: -1,
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::NO_AUTH)
        .and(Flags::ALLOW_BUSY)
        .and(Flags::SUBSCRIBED)
        .and(Flags::UNQUEUED),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Closes the connection.",
    since: "1.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.client().closing = true;
    reply.ok();
    Ok(Flow::Done)
}
