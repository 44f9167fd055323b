//! Who listens to which channel and pattern, and how they hear of it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;
use tailrace_storage::Case;
use tailrace_storage::glob_matches;

use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::state::State;

/// What a subscription names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// One channel.
    Channel,
    /// All channels whose names match.
    Pattern,
    /// One channel of a shard, which no pattern matches.
    Shard,
}

impl Kind {
    /// The word that confirms a subscription.
    pub(crate) fn subscribed(self) -> &'static str {
        match self {
            Self::Channel => "subscribe",
            Self::Pattern => "psubscribe",
            Self::Shard => "ssubscribe",
        }
    }

    /// The word that confirms the end of one.
    pub(crate) fn unsubscribed(self) -> &'static str {
        match self {
            Self::Channel => "unsubscribe",
            Self::Pattern => "punsubscribe",
            Self::Shard => "sunsubscribe",
        }
    }
}

/// What one client listens to.
#[derive(Debug, Default)]
pub struct Subscriptions {
    /// Channels by name.
    pub channels: BTreeSet<Box<[u8]>>,
    /// Glob patterns.
    pub patterns: BTreeSet<Box<[u8]>>,
    /// Channels of shards by name.
    pub shards: BTreeSet<Box<[u8]>>,
    /// The memory that all of them take, here and where they are looked up.
    pub(crate) bytes: usize,
}

impl Subscriptions {
    /// Whether it listens to nothing.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.patterns.is_empty() && self.shards.is_empty()
    }

    /// What a confirmation of this kind counts: channels and patterns together, those of shards
    /// apart.
    pub fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Channel | Kind::Pattern => self.channels.len() + self.patterns.len(),
            Kind::Shard => self.shards.len(),
        }
    }

    /// The names of one kind.
    pub(crate) fn names(&self, kind: Kind) -> Vec<Box<[u8]>> {
        let names = match kind {
            Kind::Channel => &self.channels,
            Kind::Pattern => &self.patterns,
            Kind::Shard => &self.shards,
        };
        names.iter().cloned().collect()
    }

    fn of_kind(&mut self, kind: Kind) -> &mut BTreeSet<Box<[u8]>> {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::Shard => &mut self.shards,
        }
    }
}

/// Clients by what they listen to, in the order in which they came.
pub(crate) type Subscribers = BTreeMap<Box<[u8]>, Vec<ClientId>>;

/// All subscriptions of all clients.
///
/// Invariant: a client is listed under a name if and only if its [`Subscriptions`] hold the name.
#[derive(Debug, Default)]
pub struct PubSub {
    /// Subscribers by channel.
    pub channels: Subscribers,
    /// Subscribers by pattern.
    pub patterns: Subscribers,
    /// Subscribers by channel of a shard.
    pub shards: Subscribers,
    /// Invariant: those of all clients' [`Subscriptions`] added up.
    pub(crate) bytes: usize,
}

impl PubSub {
    /// Whether a message could reach anybody outside of shards.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.channels.is_empty() || !self.patterns.is_empty()
    }

    /// Who listens to what is of this kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> &Subscribers {
        match kind {
            Kind::Channel => &self.channels,
            Kind::Pattern => &self.patterns,
            Kind::Shard => &self.shards,
        }
    }

    fn of_kind_mut(&mut self, kind: Kind) -> &mut Subscribers {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::Shard => &mut self.shards,
        }
    }
}

/// What a subscription takes: its name in the client's set and among all, the client in its list.
const fn subscription_bytes(name: &[u8]) -> usize {
    2 * (name.len() + size_of::<Box<[u8]>>()) + size_of::<Vec<ClientId>>() + size_of::<ClientId>()
}

impl State {
    /// Lets a client listen. Does nothing if it does already.
    pub(crate) fn subscribe(&mut self, id: ClientId, kind: Kind, name: &[u8]) {
        let subscriptions = &mut self.clients.at(id).subscriptions;
        if subscriptions.of_kind(kind).insert(name.into()) {
            subscriptions.bytes += subscription_bytes(name);
            self.pubsub.bytes += subscription_bytes(name);
            let table = self.pubsub.of_kind_mut(kind);
            table.entry(name.into()).or_default().push(id);
        }
    }

    /// Lets a client listen no longer. Does nothing if it did not.
    pub(crate) fn unsubscribe(&mut self, id: ClientId, kind: Kind, name: &[u8]) {
        let subscriptions = &mut self.clients.at(id).subscriptions;
        if !subscriptions.of_kind(kind).remove(name) {
            return;
        }
        subscriptions.bytes -= subscription_bytes(name);
        self.pubsub.bytes -= subscription_bytes(name);
        let table = self.pubsub.of_kind_mut(kind);
        if let Some(clients) = table.get_mut(name) {
            clients.retain(|&subscriber| subscriber != id);
            if clients.is_empty() {
                table.remove(name);
            }
        }
    }

    /// Lets a client listen to nothing any more, without a word.
    pub(crate) fn unsubscribe_all(&mut self, id: ClientId) {
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            for name in self.clients.at(id).subscriptions.names(kind) {
                self.unsubscribe(id, kind, &name);
            }
        }
    }

    /// Confirms a subscription or its end. That is a message: it comes even to a client that wants
    /// no replies.
    pub(crate) fn confirm(
        &mut self,
        id: ClientId,
        kind: Kind,
        word: &str,
        name: Option<&[u8]>,
        reply: &mut ReplyWriter<'_>,
    ) {
        let client = self.clients.at(id);
        let count = client.subscriptions.count(kind) as u64;
        let write = |reply: &mut ReplyWriter<'_>| {
            reply.push(3);
            reply.bulk(word.as_bytes());
            match name {
                Some(name) => reply.bulk(name),
                None => reply.null(),
            }
            reply.unsigned(count);
        };
        if client.reply_mode == ReplyMode::On {
            write(reply);
        } else {
            self.push(id, write);
        }
    }

    /// As [`Self::publish`], to the clients of all nodes of a cluster. Only those of the caller's node are counted.
    pub(crate) fn publish_to_all(&mut self, channel: &[u8], message: &[u8]) -> u64 {
        if let Some(cluster) = &mut self.cluster {
            cluster.send(channel, message);
        }
        self.publish(channel, message)
    }

    /// Sends a message to everybody who listens to `channel`, and says to how many: once for each
    /// subscription that matches, the channel's own first.
    pub(crate) fn publish(&mut self, channel: &[u8], message: &[u8]) -> u64 {
        let parts = [b"message", channel, message];
        let mut receivers = self.push_to_channel(Kind::Channel, channel, &parts);
        let patterns = std::mem::take(&mut self.pubsub.patterns);
        for (pattern, clients) in &patterns {
            if glob_matches(pattern, channel, Case::Sensitive) {
                let parts = [b"pmessage", &**pattern, channel, message];
                receivers += self.push_to_all(clients, &parts);
            }
        }
        self.pubsub.patterns = patterns;
        receivers
    }

    /// Sends a message to everybody who listens to `channel` of a shard, and says to how many.
    pub(crate) fn publish_to_shard(&mut self, channel: &[u8], message: &[u8]) -> u64 {
        let parts = [b"smessage", channel, message];
        let receivers = self.push_to_channel(Kind::Shard, channel, &parts);
        if receivers > 0 && self.slot_stats.is_on() {
            // A push and an array have headers of the same length.
            let each = encoded(&parts, Version::Resp2).len();
            let bytes = each.saturating_mul(usize::try_from(receivers).unwrap_or(0));
            self.count_slot_messages(channel, bytes);
        }
        receivers
    }

    /// Pushes the same to all who listen to a channel by its name.
    fn push_to_channel(&mut self, kind: Kind, channel: &[u8], parts: &[&[u8]]) -> u64 {
        let Some(clients) = self.pubsub.of_kind_mut(kind).get_mut(channel) else {
            return 0;
        };
        // Nobody comes or goes while a message is handed out.
        let clients = std::mem::take(clients);
        let receivers = self.push_to_all(&clients, parts);
        if let Some(place) = self.pubsub.of_kind_mut(kind).get_mut(channel) {
            *place = clients;
        }
        receivers
    }

    /// Pushes the same to all of `clients`, written once in each dialect that is among theirs.
    fn push_to_all(&mut self, clients: &[ClientId], parts: &[&[u8]]) -> u64 {
        let (old, new) = (OnceCell::new(), OnceCell::new());
        let is_double = self.double.is_some();
        for &id in clients {
            if is_double && self.loses_message(id, parts[0], parts[parts.len() - 2]) {
                continue;
            }
            self.push(id, |reply| {
                let version = reply.version();
                let place = match version {
                    Version::Resp2 => &old,
                    Version::Resp3 => &new,
                };
                reply.raw(place.get_or_init(|| encoded(parts, version)));
            });
        }
        // Of several nodes in one engine, that of the caller counts its own.
        let count = self.caller.map(|id| self.count_beside(id, clients));
        count.unwrap_or(clients.len()) as u64
    }

    /// How many of these names somebody listens to who is connected to the caller's node.
    pub(crate) fn heard_at(&self, caller: ClientId, subscribers: &Subscribers) -> usize {
        let heard = subscribers.values();
        heard
            .filter(|clients| self.has_beside(caller, clients))
            .count()
    }

    /// Whether anybody who is connected to the caller's node is among these.
    pub(crate) fn has_beside(&self, caller: ClientId, clients: &[ClientId]) -> bool {
        self.count_beside(caller, clients) > 0
    }
}

fn encoded(parts: &[&[u8]], version: Version) -> Vec<u8> {
    let bytes: usize = parts.iter().map(|part| part.len() + HEADER_BYTES_MAX).sum();
    let mut out = Vec::with_capacity(bytes + HEADER_BYTES_MAX);
    let mut writer = ReplyWriter::new(&mut out, version);
    writer.push(parts.len());
    for part in parts {
        writer.bulk(part);
    }
    out
}

/// More than a header takes, with the line end behind what it is for.
const HEADER_BYTES_MAX: usize = 32;
