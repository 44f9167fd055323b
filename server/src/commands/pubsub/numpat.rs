//! `PUBSUB NUMPAT`
//!
//! Replies with the number of patterns that somebody listens to, each counted once.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "pubsub|numpat",
    arity: 2,
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Counts the patterns that somebody listens to.",
    since: "2.8.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let patterns = call.state.heard_at(call.id, &call.state.pubsub.patterns);
    reply.unsigned(patterns as u64);
    Ok(Flow::Done)
}
