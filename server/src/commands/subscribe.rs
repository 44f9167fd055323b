//! `SUBSCRIBE channel [channel ...]`, `PSUBSCRIBE pattern [pattern ...]`,
//! `SSUBSCRIBE shardchannel [shardchannel ...]`
//!
//! Listens to channels, to all whose names match a pattern, or to channels of a shard. Each is
//! confirmed with a message of its own, which counts channels and patterns together, and channels of
//! shards apart.
//!
//! Behaviour worth knowing:
//! - A RESP2 connection that listens may only subscribe, unsubscribe, ping, reset and quit.
//! - `SSUBSCRIBE` is refused inside of a transaction, when it runs; the others are not.
//! - Confirmations come even if `CLIENT REPLY` is off: they are messages.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::pubsub::Kind;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "subscribe",
    arity: -2,
    syntax: "channel...",
    flags: FLAGS.and(Flags::GROWS_CLIENT),
    group: Group::PubSub,
    summary: "Listens to channels.",
    since: "2.0.0",
    complexity: "O(N), N being the number of channels.",
    ..Spec::of(subscribe)
};

pub(super) const PSUBSCRIBE: Spec = Spec {
    name: "psubscribe",
    arity: -2,
    syntax: "pattern...",
    flags: FLAGS.and(Flags::GROWS_CLIENT),
    group: Group::PubSub,
    summary: "Listens to the channels whose names match patterns.",
    since: "2.0.0",
    complexity: "O(N), N being the number of patterns.",
    ..Spec::of(psubscribe)
};

pub(super) const SSUBSCRIBE: Spec = Spec {
    name: "ssubscribe",
    arity: -2,
    syntax: "shardchannel...",
    flags: FLAGS.and(Flags::GROWS_CLIENT),
    keys: &[KeySpec::all(1, &["not_key"])],
    group: Group::PubSub,
    summary: "Listens to channels of a shard.",
    since: "7.0.0",
    complexity: "O(N), N being the number of channels.",
    ..Spec::of(ssubscribe)
};

const FLAGS: Flags = Flags::PUBSUB
    .and(Flags::NOSCRIPT)
    .and(Flags::LOADING)
    .and(Flags::STALE)
    .and(Flags::SUBSCRIBED);

fn subscribe(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    add(call, args, Kind::Channel, reply)
}

fn psubscribe(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    add(call, args, Kind::Pattern, reply)
}

fn ssubscribe(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if call.in_exec() {
        return Err(ClientError::SsubscribeInExec.into());
    }
    add(call, args, Kind::Shard, reply)
}

fn add(
    call: &mut Call<'_>,
    args: Args<'_>,
    kind: Kind,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    for name in args {
        call.state.subscribe(call.id, kind, name);
        call.state
            .confirm(call.id, kind, kind.subscribed(), Some(name), reply);
    }
    Ok(Flow::Done)
}
