//! Who listens to which channel and pattern.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::client::ClientId;

/// What one client listens to.
#[derive(Debug, Default)]
pub struct Subscriptions {
    /// Channels by name.
    pub channels: BTreeSet<Box<[u8]>>,
    /// Glob patterns.
    pub patterns: BTreeSet<Box<[u8]>>,
}

impl Subscriptions {
    /// Whether it listens to nothing.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.patterns.is_empty()
    }

    /// Channels and patterns together, as confirmations count them.
    pub fn count(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }
}

/// All subscriptions of all clients.
#[derive(Debug, Default)]
pub struct PubSub {
    /// Subscribers by channel, in the order in which they came.
    pub channels: BTreeMap<Box<[u8]>, Vec<ClientId>>,
    /// Subscribers by pattern, in the order in which they came.
    pub patterns: BTreeMap<Box<[u8]>, Vec<ClientId>>,
}

impl PubSub {
    /// Forgets one subscription in `table`.
    pub fn remove(table: &mut BTreeMap<Box<[u8]>, Vec<ClientId>>, name: &[u8], client: ClientId) {
        if let Some(clients) = table.get_mut(name) {
            clients.retain(|&subscriber| subscriber != client);
            if clients.is_empty() {
                table.remove(name);
            }
        }
    }

    /// Forgets everything that a client listened to.
    pub fn remove_client(&mut self, subscriptions: &Subscriptions, client: ClientId) {
        for channel in &subscriptions.channels {
            Self::remove(&mut self.channels, channel, client);
        }
        for pattern in &subscriptions.patterns {
            Self::remove(&mut self.patterns, pattern, client);
        }
    }
}
