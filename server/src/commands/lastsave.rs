//! `LASTSAVE`
//!
//! Replies with the time of the start, as the reference does while nothing was saved.

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
    name: "lastsave",
    arity: 1,
    flags: Flags::LOADING.and(Flags::STALE).and(Flags::FAST),
    acl: Acl::ADMIN.and(Acl::DANGEROUS),
    tips: &["nondeterministic_output"],
    group: Group::Server,
    summary: "Returns when data was saved last, or when the server started.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.unsigned(call.state.info.started_at.to_seconds());
    Ok(Flow::Done)
}
