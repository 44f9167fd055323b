//! What a command changed, for everybody who reacts to it.
//!
//! Waiting readers, WATCH and keyspace notifications all read one list, in the order in which things
//! happened. Nothing is written down while nobody asks: see [`Changes::record`].

use std::collections::BTreeMap;

use crate::event::Event;
use crate::ledger::Ledger;
use crate::time::UnixMillis;

/// One thing that happened to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The database of the key.
    pub db: usize,
    /// The key.
    pub key: Box<[u8]>,
    /// What happened to it.
    pub event: Event,
}

/// The changes since they were last taken, and who asked for them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    list: Vec<Change>,
    /// How many there were, recorded or not.
    count: u64,
    /// How often each key is observed, by database.
    observed: Vec<BTreeMap<Box<[u8]>, u32>>,
    record_all: bool,
    /// The time of what happens.
    now: UnixMillis,
    /// What became of each entry, if anybody wants to know.
    ledger: Option<Box<Ledger>>,
    /// Invariant: `record_all`, or some key is observed, or there is a ledger.
    recording: bool,
}

impl Changes {
    /// Writes down an event if its key is observed or everything is recorded.
    #[inline]
    pub(crate) fn record(&mut self, db: usize, key: &[u8], event: Event) {
        self.count += u64::from(event.is_counted());
        if self.recording {
            self.record_if_wanted(db, key, event);
        }
    }

    /// Counts changes that are no event, or that are many in one.
    #[inline]
    pub(crate) fn count_more(&mut self, count: u64) {
        self.count += count;
    }

    /// Does not count an event of the last change, which is part of another one.
    #[inline]
    pub(crate) fn count_as_part(&mut self) {
        self.count -= 1;
    }

    /// Returns how many changes there were.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Writes down an event that only those are interested in who asked for everything.
    #[inline]
    pub(crate) fn record_for_all(&mut self, db: usize, key: &[u8], event: Event) {
        if self.record_all {
            self.push(db, key, event);
        }
    }

    pub(crate) fn set_record_all(&mut self, record_all: bool) {
        self.record_all = record_all;
        self.update_recording();
    }

    #[inline]
    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_deref()
    }

    /// The ledger, as of now.
    #[cold]
    pub(crate) fn ledger_mut(&mut self) -> Option<&mut Ledger> {
        let ledger = self.ledger.as_deref_mut()?;
        ledger.set_now(self.now);
        Some(ledger)
    }

    /// Returns whether anybody observes anything: who waits or watches, who is notified, or a ledger. This is all that
    /// is asked while nobody does.
    #[inline]
    pub(crate) const fn is_recording(&self) -> bool {
        self.recording
    }

    /// Sets the time of what follows.
    #[inline]
    pub(crate) const fn set_now(&mut self, now: UnixMillis) {
        self.now = now;
    }

    #[inline]
    pub(crate) const fn now(&self) -> UnixMillis {
        self.now
    }

    pub(crate) fn set_ledger(&mut self, ledger: Option<Box<Ledger>>) {
        self.ledger = ledger;
        self.update_recording();
    }

    pub(crate) const fn take_ledger(&mut self) -> Option<Box<Ledger>> {
        self.ledger.take()
    }

    pub(crate) fn observe(&mut self, db: usize, key: &[u8]) {
        if self.observed.len() <= db {
            self.observed.resize_with(db + 1, BTreeMap::new);
        }
        if let Some(keys) = self.observed.get_mut(db) {
            if let Some(count) = keys.get_mut(key) {
                *count += 1;
            } else {
                keys.insert(key.into(), 1);
            }
        }
        self.recording = true;
    }

    pub(crate) fn unobserve(&mut self, db: usize, key: &[u8]) {
        let Some(keys) = self.observed.get_mut(db) else {
            return;
        };
        let Some(count) = keys.get_mut(key) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            keys.remove(key);
            self.update_recording();
        }
    }

    /// Returns the observed keys of a database in byte order.
    pub(crate) fn observed_keys(&self, db: usize) -> Vec<Box<[u8]>> {
        self.observed
            .get(db)
            .map(|keys| keys.keys().cloned().collect())
            .unwrap_or_default()
    }

    pub(crate) fn list(&self) -> &[Change] {
        &self.list
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets what was written down, and what was counted beyond `count`.
    pub(crate) fn forget_since(&mut self, count: u64) {
        self.list.clear();
        self.count = count;
    }

    pub(crate) fn swap(&mut self, other: &mut Vec<Change>) {
        other.clear();
        std::mem::swap(&mut self.list, other);
    }

    #[cold]
    fn record_if_wanted(&mut self, db: usize, key: &[u8], event: Event) {
        if let Some(ledger) = self.ledger_mut() {
            ledger.on_event(db, key, event);
        }
        let observed = || {
            self.observed
                .get(db)
                .is_some_and(|keys| keys.contains_key(key))
        };
        if self.record_all || observed() {
            self.push(db, key, event);
        }
    }

    fn push(&mut self, db: usize, key: &[u8], event: Event) {
        self.list.push(Change {
            db,
            key: key.into(),
            event,
        });
    }

    fn update_recording(&mut self) {
        self.recording = self.record_all
            || self.ledger.is_some()
            || self.observed.iter().any(|keys| !keys.is_empty());
    }
}
