//! `PUBLISH channel message`
//!
//! Sends a message to everybody who listens to the channel, and replies with how many they were.
//!
//! Behaviour worth knowing:
//! - Who listens by several patterns gets the message for each, after the channel's own.
//! - A publisher that listens itself gets the reply first and then the message.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "publish",
    arity: 3,
    flags: Flags::PUBSUB
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::MAY_REPLICATE),
    group: Group::PubSub,
    summary: "Sends a message to a channel.",
    since: "2.0.0",
    complexity: "O(N+M), N being the number of the channel's subscribers and M that of patterns.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let channel = args.bytes()?;
    let message = args.bytes()?;

    let receivers = call.state.publish(channel, message);

    reply.unsigned(receivers);
    Ok(Flow::Done)
}
