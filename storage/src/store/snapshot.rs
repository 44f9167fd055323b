//! Copies of all data, to go back to, and a look at all data that leaves no trace.
//!
//! A copy is a whole one: the nodes of a stream are few and packed, so that copying them costs about what reading
//! them does, and nothing that changes data has to ask whether it is shared.

use std::mem;

use crate::event::Event;
use crate::keyspace::{Keyspace, Record};
use crate::ledger::Ledger;
use crate::rng::Rng;
use crate::store::packing::Unpacked;
use crate::store::{Flushed, Stats, Store};
use crate::time::UnixMillis;
use crate::value::Value;

/// All that a store had at some time: keys with their values and deadlines, groups, consumers and what is pending, and
/// what chance would pick next.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) keyspaces: Vec<Keyspace>,
    pub(super) unpacked: Unpacked,
    pub(super) rng: Rng,
    pub(super) taken_at: UnixMillis,
    pub(super) change_count: u64,
    pub(super) stats: Stats,
    pub(super) ledger: Option<Box<Ledger>>,
}

/// All data of a store or of a snapshot, to be looked at. Nothing is noted or removed by that.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    keyspaces: &'a [Keyspace],
    now: UnixMillis,
}

/// A key and what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct ContentsKey<'a> {
    /// Its name.
    pub key: &'a [u8],
    /// What it holds.
    pub value: &'a Value,
    /// When it expires, if it does.
    pub deadline: Option<UnixMillis>,
}

impl Snapshot {
    /// Returns all data.
    #[must_use]
    pub fn contents(&self) -> Contents<'_> {
        Contents {
            keyspaces: &self.keyspaces,
            now: self.taken_at,
        }
    }

    /// Returns how many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keyspaces.iter().map(Keyspace::len).sum()
    }

    /// Returns whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that keys and values take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keyspaces.iter().map(Keyspace::bytes).sum()
    }
}

impl<'a> Contents<'a> {
    /// Returns how many databases there are.
    #[must_use]
    pub const fn databases(&self) -> usize {
        self.keyspaces.len()
    }

    /// Returns the keys of a database in no particular order, without those that are due.
    pub fn keys(&self, db: usize) -> impl Iterator<Item = ContentsKey<'a>> + use<'a> {
        let now = self.now;
        let records = self.keyspaces[db].records();
        records
            .filter(move |record| !record.is_due(now))
            .map(|record| ContentsKey {
                key: record.key(),
                value: record.value(),
                deadline: record.deadline(),
            })
    }
}

impl Store {
    /// Returns all data.
    #[must_use]
    pub fn contents(&self) -> Contents<'_> {
        Contents {
            keyspaces: &self.keyspaces,
            now: self.now(),
        }
    }

    /// Copies all data. Takes time proportional to it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            keyspaces: self.keyspaces.clone(),
            unpacked: self.unpacked.clone(),
            rng: self.rng.clone(),
            taken_at: self.now(),
            change_count: self.changes.count(),
            stats: self.stats,
            ledger: self.changes.ledger().cloned().map(Box::new),
        }
    }

    /// Undoes all that happened to the data since the snapshot was taken, as if it never had: nobody hears of it, and
    /// what was counted is counted no more. All changes of before must have been taken.
    pub fn roll_back(&mut self, snapshot: Snapshot) -> Flushed {
        let keyspaces = mem::replace(&mut self.keyspaces, snapshot.keyspaces);
        self.find_deadline_dbs();
        self.unpacked = snapshot.unpacked;
        self.rng = snapshot.rng;
        self.stats = snapshot.stats;
        self.changes.set_ledger(snapshot.ledger);
        self.changes.forget_since(snapshot.change_count);
        Flushed { keyspaces }
    }

    /// Puts the data of a snapshot into the place of all there is, which is returned.
    ///
    /// Whoever observes a key hears what it would if its database were swapped. The ledger is what it was when the
    /// snapshot was taken; if there was none and there is one now, it begins anew.
    ///
    /// # Panics
    ///
    /// If the snapshot is of a store with another number of databases.
    pub fn restore_snapshot(&mut self, snapshot: Snapshot) -> Flushed {
        assert_eq!(
            snapshot.keyspaces.len(),
            self.keyspaces.len(),
            "a snapshot has as many databases"
        );
        self.record_presence(Event::SwappedOut);
        let keyspaces = mem::replace(&mut self.keyspaces, snapshot.keyspaces);
        self.find_deadline_dbs();
        self.unpacked = snapshot.unpacked;
        self.rng = snapshot.rng;
        self.record_presence(Event::SwappedIn);
        self.changes.count_more(1);
        self.replace_ledger(snapshot.ledger);
        Flushed { keyspaces }
    }

    /// Destroys all groups of all streams. Returns how many there were.
    pub fn destroy_all_groups(&mut self) -> usize {
        let mut count = 0;
        for db in 0..self.keyspaces.len() {
            let streams = self.keyspaces[db].records().filter_map(grouped_stream);
            let keys: Vec<Box<[u8]>> = streams.map(Box::from).collect();
            for key in keys {
                let Some(at) = self.keyspaces[db].find(&key) else {
                    continue;
                };
                let groups = self.keyspaces[db].update(at, |value| {
                    let stream = value.as_stream_mut();
                    stream.map_or_else(|_| Vec::new(), |stream| stream.destroy_all_groups())
                });
                count += groups.len();
                if let Some(ledger) = self.changes.ledger_mut() {
                    ledger.note(db, &key, 0, |stream, mark| {
                        for group in &groups {
                            stream.on_group_destroyed(group, mark);
                        }
                    });
                }
                self.changes.record(db, &key, Event::XgroupDestroy);
            }
        }
        count
    }

    /// Writes down what happens to the observed keys that are there.
    fn record_presence(&mut self, event: Event) {
        for db in 0..self.keyspaces.len() {
            for key in self.changes.observed_keys(db) {
                if self.keyspaces[db].find(&key).is_some() {
                    self.changes.record(db, &key, event);
                }
            }
        }
    }
}

/// The key of a stream that has groups.
fn grouped_stream(record: &Record) -> Option<&[u8]> {
    match record.value() {
        Value::Stream(stream) if stream.groups().len() > 0 => Some(record.key()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::id::{IdRequest, StreamId};
    use crate::store::{GroupStart, MissingStream, Settings};

    fn add(store: &mut Store, key: &[u8], ms: u64) {
        let id = IdRequest::Exact(StreamId::new(ms, 0));
        let fields = [&b"f"[..], b"v"].into_iter();
        let added = store.append(0, key, id, fields, MissingStream::Create, None);
        assert!(added.is_ok());
    }

    fn events(store: &mut Store) -> Vec<(Vec<u8>, Event)> {
        let mut changes = Vec::new();
        store.take_changes(&mut changes);
        let told = |Change { key, event, .. }| (key.into_vec(), event);
        changes.into_iter().map(told).collect()
    }

    #[test]
    fn what_is_done_to_the_store_does_not_reach_the_copy() {
        let mut store = Store::new(2, 0, Settings::default());
        for ms in 1..=300 {
            add(&mut store, b"s", ms);
        }
        let snapshot = store.snapshot();
        add(&mut store, b"s", 301);
        add(&mut store, b"t", 1);
        store.observe(0, b"t");
        store.observe(0, b"other");
        drop(store.restore_snapshot(snapshot.clone()));
        store.check();
        let len = |store: &mut Store| store.stream(0, b"s").unwrap().unwrap().len();
        assert_eq!(len(&mut store), 300);
        assert!(store.peek(0, b"t").is_none());
        assert_eq!(events(&mut store), [(b"t".to_vec(), Event::SwappedOut)]);
        // What is done after it was restored does not, either.
        add(&mut store, b"s", 400);
        drop(store.restore_snapshot(snapshot));
        assert_eq!(len(&mut store), 300);
    }

    #[test]
    fn what_is_rolled_back_never_was() {
        let mut store = Store::new(2, 0, Settings::default());
        add(&mut store, b"s", 1);
        let snapshot = store.snapshot();
        let (changes, stats) = (store.change_count(), store.stats());
        store.set_record_all(true);
        add(&mut store, b"s", 2);
        assert!(store.read(0, b"missing").is_none());
        drop(store.roll_back(snapshot));
        store.check();
        assert_eq!((store.change_count(), store.stats()), (changes, stats));
        assert_eq!(events(&mut store), []);
        assert_eq!(store.stream(0, b"s").unwrap().unwrap().len(), 1);
    }

    #[test]
    fn all_groups_go_and_entries_stay() {
        let mut store = Store::new(2, 0, Settings::default());
        add(&mut store, b"s", 1);
        add(&mut store, b"t", 1);
        let created = store.create_group(
            0,
            b"s",
            b"g",
            GroupStart::After(StreamId::MIN),
            None,
            MissingStream::Leave,
        );
        assert!(created.is_ok());
        assert_eq!(store.destroy_all_groups(), 1);
        store.check();
        let stream = store.stream(0, b"s").unwrap().unwrap();
        assert_eq!((stream.len(), stream.groups().len()), (1, 0));
        assert_eq!(store.destroy_all_groups(), 0);
    }
}
