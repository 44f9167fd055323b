//! `PUBLISH channel message`, `SPUBLISH shardchannel message`
//!
//! Sends a message to everybody who listens to the channel, or the shard's channel of that name, and
//! replies with how many they were.
//!
//! Behaviour worth knowing:
//! - Who listens by several patterns gets the message for each, after the channel's own.
//! - No pattern matches a channel of a shard.
//! - In a cluster, `PUBLISH` reaches the clients of all nodes and counts those of its own.
//! - A publisher that listens itself gets the reply first and then the message.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "publish",
    arity: 3,
    syntax: "channel message",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Sends a message to a channel.",
    since: "2.0.0",
    complexity: "O(N+M), N being the number of the channel's subscribers and M that of patterns.",
    ..Spec::of(publish)
};

pub(super) const SPUBLISH: Spec = Spec {
    name: "spublish",
    arity: 3,
    syntax: "shardchannel message",
    flags: FLAGS,
    keys: &[KeySpec::first(&["not_key"])],
    group: Group::PubSub,
    summary: "Sends a message to a channel of a shard.",
    since: "7.0.0",
    complexity: "O(N), N being the number of the channel's subscribers.",
    ..Spec::of(spublish)
};

const FLAGS: Flags = Flags::PUBSUB
    .and(Flags::LOADING)
    .and(Flags::STALE)
    .and(Flags::FAST)
    .and(Flags::MAY_REPLICATE);

fn publish(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let channel = args.bytes()?;
    let message = args.bytes()?;

    let receivers = call.state.publish_to_all(channel, message);

    reply.unsigned(receivers);
    Ok(Flow::Done)
}

fn spublish(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let channel = args.bytes()?;
    let message = args.bytes()?;

    let receivers = call.state.publish_to_shard(channel, message);

    reply.unsigned(receivers);
    Ok(Flow::Done)
}
