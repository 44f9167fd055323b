//! Clients that go from one engine to another with their node: it became the replica of a primary, or a primary of its own.
//!
//! Their connections stay. Each finds out before its next command that its client is elsewhere now, and goes there itself; so no
//! command is executed by an engine that its node is no face of any more.

use std::sync::Arc;

use tailrace_storage::Now;

use super::Engine;
use super::Sending;
use crate::client::Client;
use crate::client::ClientId;
use crate::input::InputLimits;
use crate::outbox::Due;
use crate::pubsub::Kind;
use crate::serve;
use crate::state::State;
use crate::tracking::Tracking;

/// A client between two engines.
struct Leaving {
    client: Box<Client>,
    subscriptions: Vec<(Kind, Vec<Box<[u8]>>)>,
    tracking: Option<Box<Tracking>>,
    is_monitor: bool,
}

impl Engine {
    /// Takes a client to the engine of its node, if that is another. Gives where it is now.
    pub(crate) fn hand_over(&self, id: ClientId) -> Option<(Arc<Self>, ClientId, InputLimits)> {
        let (engine, leaving) =
            self.with_sending(Sending::AtTurnEnd, |state, _| state.give_away(id))?;
        let (id, limits) = engine.with_sending(Sending::AtTurnEnd, |state, now| {
            let id = state.take_in(leaving, now);
            (id, InputLimits::of(state, id))
        });
        Some((engine, id, limits))
    }
}

impl State {
    /// Notes which clients are to go to other engines with their nodes, and calls their connections.
    pub(crate) fn send_clients_away(&mut self, now: Now) {
        let Some(cluster) = &self.cluster else {
            return;
        };
        let mut called = Vec::new();
        for client in self.clients.iter_mut() {
            let is_elsewhere = !cluster.is_own(client.face);
            if is_elsewhere && !client.is_sent_away {
                called.push((client.id, client.waiter));
            }
            client.is_sent_away = is_elsewhere;
        }
        for (id, waiter) in called {
            // Nobody waits here any more for what is elsewhere.
            if let Some(waiter) = waiter {
                serve::unblock_with_error(self, waiter, now);
            }
            if let Some(client) = self.clients.get(id) {
                client.link.call();
            }
        }
    }

    /// Notes whether a client that came is to go to another engine at once, since its node went there meanwhile.
    pub(crate) fn look_where(&mut self, id: ClientId) {
        if let Some(cluster) = &self.cluster {
            let client = self.clients.at(id);
            client.is_sent_away = !cluster.is_own(client.face);
        }
    }

    /// Takes a client out that belongs to another engine, with all that it asked for.
    fn give_away(&mut self, id: ClientId) -> Option<(Arc<Engine>, Leaving)> {
        let client = self.clients.get(id)?;
        let cluster = self.cluster.as_ref()?;
        if cluster.is_own(client.face) {
            self.clients.at(id).is_sent_away = false;
            return None;
        }
        let Some(engine) = cluster.engine_of(client.face) else {
            self.kill(id);
            return None;
        };
        let kinds = [Kind::Channel, Kind::Pattern, Kind::Shard];
        let subscriptions = &self.clients.at(id).subscriptions;
        let subscriptions = kinds.map(|kind| (kind, subscriptions.names(kind))).into();
        self.unsubscribe_all(id);
        let tracking = self.end_tracking(id);
        let is_monitor = self.clients.at(id).is_monitor;
        self.stop_monitoring(id);
        // What it watches is elsewhere now, and may have been otherwise there.
        let watches = &self.clients.at(id).watches;
        let is_broken = watches.broken || !watches.keys.is_empty();
        self.unwatch(id);
        let mut client = self.clients.remove(id)?;
        client.watches.broken = is_broken;
        client.due = Due::Never;
        self.note_clients();
        let leaving = Leaving {
            client,
            subscriptions,
            tracking,
            is_monitor,
        };
        Some((engine, leaving))
    }

    fn take_in(&mut self, leaving: Leaving, now: Now) -> ClientId {
        let Leaving {
            client,
            subscriptions,
            tracking,
            is_monitor,
        } = leaving;
        let id = self.clients.adopt(client);
        for (kind, names) in subscriptions {
            names.iter().for_each(|name| self.subscribe(id, kind, name));
        }
        if let Some(tracking) = tracking {
            self.resume_tracking(id, *tracking);
        }
        if is_monitor {
            self.start_monitoring(id);
        }
        self.look_where(id);
        self.note_clients();
        self.schedule_idle(now.mono);
        self.touch(id);
        id
    }
}
