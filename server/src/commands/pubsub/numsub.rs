//! `PUBSUB NUMSUB [channel ...]`, `PUBSUB SHARDNUMSUB [shardchannel ...]`
//!
//! Replies with each channel, or channel of a shard, and how many listen to it by name.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::pubsub::Kind;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "pubsub|numsub",
    arity: -2,
    syntax: "[channel...]",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Counts the subscribers of channels.",
    since: "2.8.0",
    complexity: "O(N), N being the number of channels asked for.",
    ..Spec::of(numsub)
};

pub(super) const SHARDNUMSUB: Spec = Spec {
    name: "pubsub|shardnumsub",
    arity: -2,
    syntax: "[shardchannel...]",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Counts the subscribers of channels of shards.",
    since: "7.0.0",
    complexity: "O(N), N being the number of channels asked for.",
    ..Spec::of(shard_numsub)
};

fn numsub(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    count(call, args, Kind::Channel, reply)
}

fn shard_numsub(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    count(call, args, Kind::Shard, reply)
}

fn count(
    call: &mut Call<'_>,
    args: Args<'_>,
    kind: Kind,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.array(args.len() * 2);
    for channel in args {
        let subscribers = call.state.pubsub.of_kind(kind).get(channel);
        reply.bulk(channel);
        let count = subscribers.map_or(0, |clients| call.state.count_beside(call.id, clients));
        reply.unsigned(count as u64);
    }
    Ok(Flow::Done)
}
