//! `PUBSUB CHANNELS [pattern]`, `PUBSUB SHARDCHANNELS [pattern]`
//!
//! Replies with the channels, or the channels of shards, that somebody listens to by name.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Case;
use tailrace_storage::glob_matches;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::pubsub::Kind;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "pubsub|channels",
    arity: -2,
    syntax: "[pattern]",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Lists the channels that somebody listens to.",
    since: "2.8.0",
    complexity: "O(N), N being the number of channels.",
    ..Spec::of(channels)
};

pub(super) const SHARDCHANNELS: Spec = Spec {
    name: "pubsub|shardchannels",
    arity: -2,
    syntax: "[pattern]",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Lists the channels of shards that somebody listens to.",
    since: "7.0.0",
    complexity: "O(N), N being the number of channels.",
    ..Spec::of(shard_channels)
};

fn channels(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    list(call, args, Kind::Channel, reply)
}

fn shard_channels(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    list(call, args, Kind::Shard, reply)
}

fn list(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    kind: Kind,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.len() > 1 {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }
    let pattern = args.next();

    let mark = reply.mark();
    let mut count = 0;
    for (channel, clients) in call.state.pubsub.of_kind(kind) {
        let is_heard = call.state.has_beside(call.id, clients);
        if is_heard && pattern.is_none_or(|pattern| glob_matches(pattern, channel, Case::Sensitive))
        {
            count += 1;
            reply.bulk(channel);
        }
    }
    reply.insert_array(mark, count);
    Ok(Flow::Done)
}
