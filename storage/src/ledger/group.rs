//! What became of a stream's entries in one of its groups.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{ConsumerNumber, Deed, Event, History, Mark};
use super::promise::Promise;
use super::stream::EntryKey;
use super::summary::Summary;
use crate::group::Group;
use crate::id::StreamId;
use crate::pending::PendingFilter;

/// The ledger of a group, over all its lives.
#[derive(Clone, Debug, Default)]
pub struct GroupLedger {
    /// Whether there is such a group now.
    is_alive: bool,
    /// Entries up to here are not to be delivered to it.
    start: StreamId,
    /// Of entries up to here that are not known it cannot be told whether they were delivered.
    known_from: StreamId,
    /// What is or was to be delivered, and what was.
    entries: BTreeMap<EntryKey, History>,
    consumers: Vec<ConsumerLedger>,
    numbers: BTreeMap<Box<[u8]>, ConsumerNumber>,
    /// As which consumers each client has read.
    readers: BTreeMap<u64, BTreeSet<ConsumerNumber>>,
    /// Invariant: how many consumers these are, each as often as it is named.
    readings: usize,
    /// The first acknowledgements of what had not been delivered.
    strays: Vec<Stray>,
    stray_count: u64,
    forgotten: Summary,
    /// Invariant: how many events all histories keep.
    events: usize,
}

/// What one consumer did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConsumerLedger {
    /// Its name.
    pub name: Box<[u8]>,
    /// How many entries went to it, each as often as it did.
    pub deliveries: u64,
    /// How many acknowledgements count for it.
    pub acknowledgements: u64,
    /// How many entries it has pending.
    pub pending: u64,
}

/// An acknowledgement of what had not been delivered.
#[derive(Clone, Copy, Debug)]
pub struct Stray {
    /// What was acknowledged.
    pub id: StreamId,
    /// When, and by whom.
    pub mark: Mark,
}

impl GroupLedger {
    /// The sums over all entries.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = self.forgotten;
        self.entries.values().for_each(|entry| summary.add(entry));
        summary.acknowledged_undelivered = self.stray_count;
        summary
    }

    /// The consumers, in the order in which they came.
    #[must_use]
    pub fn consumers(&self) -> &[ConsumerLedger] {
        &self.consumers
    }

    /// The name of the consumer that an event is about, if one is known.
    #[must_use]
    pub fn consumer_of(&self, event: &Event) -> Option<&[u8]> {
        let consumer = self.consumers.get(event.consumer?)?;
        Some(&consumer.name)
    }

    /// The names of the consumers as which a client has read.
    pub fn read_as(&self, client: u64) -> impl Iterator<Item = &[u8]> {
        let numbers = self.readers.get(&client).into_iter().flatten();
        numbers.filter_map(|number| Some(&*self.consumers.get(*number)?.name))
    }

    /// What is known of an entry.
    pub(super) fn history(&self, key: EntryKey) -> Option<&History> {
        self.entries.get(&key)
    }

    /// The entries for which a promise was not kept, lowest ID first, and the older lives of the stream before.
    pub(super) fn broken(&self, promise: Promise) -> impl Iterator<Item = (EntryKey, &History)> {
        let entries = self.entries.iter().map(|(key, entry)| (*key, entry));
        entries.filter(move |(_, entry)| !promise.is_kept(entry))
    }

    /// The first acknowledgements of what had not been delivered.
    #[must_use]
    pub fn strays(&self) -> &[Stray] {
        &self.strays
    }

    /// Whether there is such a group now.
    #[must_use]
    pub const fn is_alive(&self) -> bool {
        self.is_alive
    }

    /// How much is kept, of the size of a history.
    pub(super) fn records(&self) -> usize {
        1 + self.entries.len() + self.events + self.consumers.len() + self.readings
    }

    /// What is pending, by the ledger's lights.
    #[cfg(test)]
    pub(super) fn pending(&self) -> impl Iterator<Item = (EntryKey, &[u8])> {
        self.entries.iter().filter_map(|(key, entry)| {
            let owner = entry.owner?;
            Some((*key, &*self.consumers[owner].name))
        })
    }

    /// It is created, to begin behind `start`; `live` are the entries that are there.
    pub(super) fn on_created(&mut self, start: StreamId, live: impl Iterator<Item = EntryKey>) {
        self.is_alive = true;
        self.start = start;
        self.known_from = StreamId::MIN;
        self.expect_all(live);
    }

    /// It came with its stream, from elsewhere or from before the ledger began.
    pub(super) fn on_found(
        &mut self,
        group: &Group,
        life: u64,
        live: impl Iterator<Item = EntryKey>,
    ) {
        self.on_created(group.last_delivered(), live);
        self.known_from = self.start;
        for pending in group.pending().iter(PendingFilter::default()) {
            let consumer = self.number(group.consumer(pending.consumer).name());
            let mark = Mark {
                at: pending.delivered_at,
                client: 0,
            };
            let id = pending.id;
            self.on_handed(EntryKey { life, id }, Deed::Delivered, consumer, mark);
            if let Some(entry) = self.entries.get_mut(&EntryKey { life, id }) {
                entry.deliveries = pending.deliveries;
            }
        }
    }

    /// It is set behind another ID.
    pub(super) fn on_set(&mut self, start: StreamId, live: impl Iterator<Item = EntryKey>) {
        self.start = start;
        self.expect_all(live);
    }

    /// It is gone, and what was pending with it.
    pub(super) fn on_destroyed(&mut self, mark: Mark) {
        self.is_alive = false;
        self.drop_all(Deed::DroppedWithGroup, mark, |_| true);
    }

    /// A consumer is gone, and what was pending with it.
    pub(super) fn on_consumer_deleted(&mut self, consumer: &[u8], mark: Mark) {
        if let Some(&number) = self.numbers.get(consumer) {
            self.drop_all(Deed::DroppedWithConsumer, mark, |owner| owner == number);
        }
    }

    /// An entry was added to the stream.
    pub(super) fn on_added(&mut self, key: EntryKey) {
        if self.is_alive && key.id > self.start {
            self.entries.entry(key).or_default();
        }
    }

    /// An entry left the stream.
    pub(super) fn on_removed(&mut self, key: EntryKey) {
        if let (true, Some(entry)) = (self.is_alive, self.entries.get_mut(&key)) {
            entry.on_removed();
        }
    }

    /// A client reads as this consumer.
    pub(super) fn on_reader(&mut self, client: u64, consumer: &[u8]) -> ConsumerNumber {
        let number = self.number(consumer);
        let own = self.readers.entry(client).or_default();
        self.readings += usize::from(own.insert(number));
        if self.readers.len() > READERS_MAX
            && let Some((_, forgotten)) = self.readers.pop_first()
        {
            self.readings -= forgotten.len();
        }
        number
    }

    /// An entry went to a consumer.
    pub(super) fn on_handed(
        &mut self,
        key: EntryKey,
        deed: Deed,
        consumer: ConsumerNumber,
        mark: Mark,
    ) {
        let entry = self.entries.entry(key).or_default();
        let events = entry.event_count();
        if let Some(before) = entry.owner {
            self.consumers[before].pending -= 1;
        }
        entry.on_handed(deed, consumer, mark);
        self.events += entry.event_count() - events;
        if let Some(owner) = entry.owner {
            self.consumers[owner].pending += 1;
        }
        self.consumers[consumer].deliveries += u64::from(deed != Deed::Moved);
    }

    /// An entry was found to have left the stream, and so left the pending list.
    pub(super) fn on_dropped(&mut self, key: EntryKey, mark: Mark) {
        if let Some(entry) = self.entries.get_mut(&key) {
            let events = entry.event_count();
            if let Some(owner) = entry.owner {
                self.consumers[owner].pending -= 1;
            }
            entry.on_dropped(Deed::DroppedAsDeleted, mark);
            self.events += entry.event_count() - events;
        }
    }

    /// A client acknowledges an ID.
    pub(super) fn on_acknowledged(&mut self, key: EntryKey, mark: Mark) {
        let reads_as = self.readers.get(&mark.client);
        match self.entries.get_mut(&key) {
            Some(entry) if entry.was_handed => {
                let events = entry.event_count();
                if let Some(owner) = entry.owner {
                    self.consumers[owner].pending -= 1;
                }
                if let Some(consumer) = entry.on_acknowledged(mark, reads_as) {
                    self.consumers[consumer].acknowledgements += 1;
                }
                self.events += entry.event_count() - events;
            }
            // It was settled before the ledger began, or was forgotten since.
            None if key.id <= self.known_from => {}
            _ => {
                self.stray_count += 1;
                if self.strays.len() < STRAYS_MAX {
                    self.strays.push(Stray { id: key.id, mark });
                }
            }
        }
    }

    /// Somebody says that the work of an entry is done. Whether it was ever to be delivered.
    pub(super) fn on_worked(&mut self, key: EntryKey, mark: Mark) -> bool {
        let Some(entry) = self.entries.get_mut(&key) else {
            return false;
        };
        let events = entry.event_count();
        entry.on_worked(mark);
        self.events += entry.event_count() - events;
        true
    }

    /// Forgets an entry but for the sums. `is_of_now` unless it is one of an older life of the stream.
    pub(super) fn forget(&mut self, key: EntryKey, is_of_now: bool) {
        if let Some(entry) = self.entries.remove(&key) {
            self.forgotten.add(&entry);
            self.forgotten.forgotten += 1;
            self.events -= entry.event_count();
            if let Some(owner) = entry.owner {
                self.consumers[owner].pending -= 1;
            }
        }
        if is_of_now {
            self.known_from = self.known_from.max(key.id);
        }
    }

    /// Takes in what is known of a group of the same name, which takes this one's place.
    pub(super) fn absorb(&mut self, newer: Self) {
        let mut numbers = Vec::new();
        for consumer in newer.consumers {
            let number = self.number(&consumer.name);
            let own = &mut self.consumers[number];
            own.deliveries += consumer.deliveries;
            own.acknowledgements += consumer.acknowledgements;
            own.pending += consumer.pending;
            numbers.push(number);
        }
        for (key, mut entry) in newer.entries {
            entry.renumber(&numbers);
            self.entries.insert(key, entry);
        }
        for (client, own) in newer.readers {
            let own = own.into_iter().map(|number| numbers[number]);
            self.readers.entry(client).or_default().extend(own);
        }
        self.readings = self.readers.values().map(BTreeSet::len).sum();
        self.strays.extend(newer.strays);
        self.strays.truncate(STRAYS_MAX);
        self.stray_count += newer.stray_count;
        self.forgotten.merge(&newer.forgotten);
        self.events += newer.events;
        self.is_alive = newer.is_alive;
        self.start = newer.start;
        self.known_from = newer.known_from;
    }

    fn expect_all(&mut self, live: impl Iterator<Item = EntryKey>) {
        for key in live.filter(|key| key.id > self.start) {
            self.entries.entry(key).or_default();
        }
    }

    fn drop_all(&mut self, deed: Deed, mark: Mark, is_meant: impl Fn(ConsumerNumber) -> bool) {
        for entry in self.entries.values_mut() {
            let Some(owner) = entry.owner.filter(|owner| is_meant(*owner)) else {
                continue;
            };
            let events = entry.event_count();
            entry.on_dropped(deed, mark);
            self.events += entry.event_count() - events;
            self.consumers[owner].pending -= 1;
        }
    }

    fn number(&mut self, name: &[u8]) -> ConsumerNumber {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.consumers.len();
        self.consumers.push(ConsumerLedger {
            name: name.into(),
            deliveries: 0,
            acknowledgements: 0,
            pending: 0,
        });
        self.numbers.insert(name.into(), number);
        number
    }
}

/// How many acknowledgements are shown of what had not been delivered.
const STRAYS_MAX: usize = 1_000;
/// Of how many clients it is kept as whom they read.
const READERS_MAX: usize = 10_000;
