//! Keyspace notifications: tells those who listen what happened to keys.
//!
//! They are messages on channels whose names say the key (`__keyspace@db__:key`) or the event
//! (`__keyevent@db__:event`), published as soon as the command that caused them ran, also inside of
//! `EXEC`. Which are published is chosen by `notify-keyspace-events`; while it chooses none, storage
//! writes nothing down for this, and a command costs one look at an empty list.

use tailrace_storage::Event;

use crate::config::EventClasses;
use crate::state::State;

impl State {
    /// Publishes the events among the changes that were not looked at yet, and tells whose cache they
    /// make stale.
    pub(crate) fn publish_events(&mut self) {
        let classes = self.config.settings().notify_keyspace_events;
        while let Some(change) = self.store.changes().get(self.published) {
            let (at, event) = (self.published, change.event);
            self.published += 1;
            let is_observing = self.caches.is_observing();
            // In the reference whose cache is stale hears that before the event, but for these.
            let is_event_first = matches!(event, Event::Expired | Event::Xadd | Event::Xtrim);
            if is_observing && !is_event_first {
                self.invalidate_changed(at);
            }
            self.publish_change(classes, at);
            if is_observing && is_event_first {
                self.invalidate_changed(at);
            }
        }
    }

    fn publish_change(&mut self, classes: EventClasses, at: usize) {
        let change = &self.store.changes()[at];
        if !self.pubsub.has_listeners() || !classes.selects(change.event.class()) {
            return;
        }
        if let Some(name) = change.event.name() {
            let (db, key) = (change.db, change.key.clone());
            self.publish_event(classes, db, &key, name.as_bytes());
        }
    }

    fn publish_event(&mut self, classes: EventClasses, db: usize, key: &[u8], event: &[u8]) {
        if classes.contains(EventClasses::KEYSPACE) {
            self.publish(&channel("keyspace", db, key), event);
        }
        if classes.contains(EventClasses::KEYEVENT) {
            self.publish(&channel("keyevent", db, event), key);
        }
    }
}

fn channel(kind: &str, db: usize, name: &[u8]) -> Vec<u8> {
    let mut channel = format!("__{kind}@{db}__:").into_bytes();
    channel.extend_from_slice(name);
    channel
}
