//! `UNSUBSCRIBE [channel ...]`, `PUNSUBSCRIBE [pattern ...]`, `SUNSUBSCRIBE [shardchannel ...]`
//!
//! Listens no longer to some channels, patterns or channels of a shard, or to any. Each is confirmed;
//! if there was nothing to leave, that is confirmed once.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::pubsub::Kind;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "unsubscribe",
    arity: -1,
    syntax: "[channel...]",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Stops listening to channels.",
    since: "2.0.0",
    complexity: "O(N), N being the number of channels.",
    ..Spec::of(unsubscribe)
};

pub(super) const PUNSUBSCRIBE: Spec = Spec {
    name: "punsubscribe",
    arity: -1,
    syntax: "[pattern...]",
    flags: FLAGS,
    group: Group::PubSub,
    summary: "Stops listening to patterns.",
    since: "2.0.0",
    complexity: "O(N), N being the number of patterns.",
    ..Spec::of(punsubscribe)
};

pub(super) const SUNSUBSCRIBE: Spec = Spec {
    name: "sunsubscribe",
    arity: -1,
    syntax: "[shardchannel...]",
    flags: FLAGS,
    keys: &[KeySpec::all(1, &["not_key"])],
    group: Group::PubSub,
    summary: "Stops listening to channels of a shard.",
    since: "7.0.0",
    complexity: "O(N), N being the number of channels.",
    ..Spec::of(sunsubscribe)
};

const FLAGS: Flags = Flags::PUBSUB
    .and(Flags::NOSCRIPT)
    .and(Flags::LOADING)
    .and(Flags::STALE)
    .and(Flags::SUBSCRIBED);

fn unsubscribe(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    remove(call, args, Kind::Channel, reply)
}

fn punsubscribe(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    remove(call, args, Kind::Pattern, reply)
}

fn sunsubscribe(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    remove(call, args, Kind::Shard, reply)
}

fn remove(
    call: &mut Call<'_>,
    args: Args<'_>,
    kind: Kind,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if !args.is_empty() {
        for name in args {
            leave(call, kind, name, reply);
        }
        return Ok(Flow::Done);
    }
    let names = call.client().subscriptions.names(kind);
    if names.is_empty() {
        call.state
            .confirm(call.id, kind, kind.unsubscribed(), None, reply);
    }
    for name in names {
        leave(call, kind, &name, reply);
    }
    Ok(Flow::Done)
}

fn leave(call: &mut Call<'_>, kind: Kind, name: &[u8], reply: &mut ReplyWriter<'_>) {
    call.state.unsubscribe(call.id, kind, name);
    call.state
        .confirm(call.id, kind, kind.unsubscribed(), Some(name), reply);
}
