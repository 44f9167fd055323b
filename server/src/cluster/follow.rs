//! What an engine does when the cluster has changed: clients that wait for what others serve now are sent there, who
//! listens to a shard's channels is told that they are gone, and keys that others have claimed are dropped.

use tailrace_storage::Now;
use tailrace_storage::WaiterId;
use tailrace_storage::key_slot;

use super::View;
use crate::error::ClusterError;
use crate::pubsub::Kind;
use crate::serve;
use crate::spec::Flags;
use crate::state::Parked;
use crate::state::State;

impl State {
    /// Catches up with what other engines did.
    #[cold]
    pub(crate) fn follow_cluster(&mut self, now: Now) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let messages = cluster.take_messages();
        let before = cluster.look();
        for message in messages {
            self.publish(&message.channel, &message.text);
        }
        let Some(before) = before else {
            return;
        };
        let cluster = self.cluster.as_ref();
        let has_face = cluster.is_some_and(|cluster| !cluster.has_no_face());
        if has_face || !self.clients.is_empty() || self.store.bytes() > 0 {
            self.follow_slots(&before);
            self.send_waiting_away(now);
            self.send_clients_away(now);
        }
        if !has_face {
            // Without any node there is no data.
            drop(self.store.flush_all());
        }
        self.note_clients();
    }

    /// Lets others know whether they may have something for this engine.
    pub(crate) fn note_clients(&self) {
        if let Some(cluster) = &self.cluster {
            cluster.note_clients(!self.clients.is_empty());
        }
    }

    /// Leaves the slots that have changed hands since `before`.
    fn follow_slots(&mut self, before: &View) {
        let Some(cluster) = &self.cluster else {
            return;
        };
        let view = cluster.view();
        let moved = view.moved_since(before);
        let is_claimed = |slot: &&u16| {
            let lost = before
                .owner_of(**slot)
                .is_some_and(|node| cluster.was_own(before, node));
            lost && view
                .owner_of(**slot)
                .is_some_and(|node| !cluster.is_own(node))
        };
        let claimed: Vec<u16> = moved.iter().filter(is_claimed).copied().collect();
        for slot in claimed {
            self.store
                .remove_slot(slot, tailrace_storage::Event::MovedAway);
        }
        for slot in &moved {
            self.slot_stats.reset_slot(*slot);
        }
        if !moved.is_empty() {
            self.end_shards(|channel| moved.binary_search(&key_slot(channel)).is_ok());
        }
    }

    /// Tells those who listen to some channels of shards that they do no longer.
    fn end_shards(&mut self, is_gone: impl Fn(&[u8]) -> bool) {
        let channels = self.pubsub.of_kind(Kind::Shard).keys();
        let gone: Vec<Box<[u8]>> = channels.filter(|name| is_gone(name)).cloned().collect();
        for name in gone {
            let clients = self.pubsub.of_kind(Kind::Shard).get(&name).cloned();
            for id in clients.unwrap_or_default() {
                self.unsubscribe(id, Kind::Shard, &name);
                let count = self.clients.at(id).subscriptions.count(Kind::Shard) as u64;
                self.push(id, |reply| {
                    reply.push(3);
                    reply.bulk(Kind::Shard.unsubscribed().as_bytes());
                    reply.bulk(&name);
                    reply.unsigned(count);
                });
            }
        }
    }

    /// Answers those who wait for a key that their node does not serve any more.
    fn send_waiting_away(&mut self, now: Now) {
        let mut refused: Vec<(WaiterId, ClusterError)> = Vec::new();
        let blocked = |parked: &&Parked| parked.spec.flags.has(Flags::BLOCKING);
        for (&waiter, parked) in self.parked.iter().filter(|(_, parked)| blocked(parked)) {
            let Some(client) = self.clients.get(parked.client) else {
                continue;
            };
            let is_writing = parked.spec.flags.has(Flags::WRITE);
            let mut first = None;
            let request = parked.request.as_request();
            parked.spec.for_each_routed(request, |key| {
                first.get_or_insert(key);
            });
            if let Some(Err(error)) = first.map(|key| self.route_waiting(client, is_writing, key)) {
                refused.push((waiter, error));
            }
        }
        refused.sort_unstable_by_key(|(waiter, _)| *waiter);
        for (waiter, error) in refused {
            serve::refuse(self, waiter, now, error.into());
        }
    }

    /// Whether a command that waits may be attempted on its client's node now.
    pub(crate) fn route_again(&self, waiter: WaiterId) -> Result<(), ClusterError> {
        match self.parked.get(&waiter) {
            Some(parked) if self.cluster.is_some() => {
                let (spec, request) = (parked.spec, parked.request.as_request());
                self.route(parked.client, spec, spec.flags, request)
            }
            _ => Ok(()),
        }
    }
}
