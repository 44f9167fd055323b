//! The keys of one database.
//!
//! Records lie in a slab and never move, so that a position in the slab is a cursor: whoever walks over the
//! slab meets every key that stays exactly once. A hash table finds the record of a key.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::expire::{Deadlines, is_due};
use crate::rng::Rng;
use crate::slot::key_slot;
use crate::slot_index::{LINK_BYTES, SlotIndex};
use crate::time::UnixMillis;
use crate::value::Value;

/// The position of a record in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordIndex(u32);

impl RecordIndex {
    /// Its number among the positions.
    pub(crate) const fn number(self) -> u64 {
        self.0 as u64
    }

    const fn position(self) -> usize {
        self.0 as usize
    }
}

/// A key and what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    key: Box<[u8]>,
    value: Value,
    deadline: Option<UnixMillis>,
    pub(crate) accessed_at: UnixMillis,
}

impl Record {
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(crate) const fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) const fn deadline(&self) -> Option<UnixMillis> {
        self.deadline
    }

    pub(crate) fn is_due(&self, now: UnixMillis) -> bool {
        self.deadline.is_some_and(|deadline| is_due(deadline, now))
    }

    /// Returns the memory that this key takes, its places in the tables included.
    pub(crate) fn bytes(&self) -> usize {
        RECORD_BYTES + self.key.len() + self.value.bytes()
    }

    pub(crate) fn into_parts(self) -> (Box<[u8]>, Value, Option<UnixMillis>) {
        (self.key, self.value, self.deadline)
    }

    fn settle(&mut self) {
        if let Value::String(string) = &mut self.value {
            string.settle(self.key.len(), self.deadline.is_some());
        }
    }
}

/// What a key takes in the slab and in the hash table.
const RECORD_BYTES: usize = size_of::<Option<Record>>() + size_of::<IndexEntry>() + 1;

/// All keys of a database.
#[derive(Default)]
pub(crate) struct Keyspace {
    /// Invariant: the last place is taken.
    slab: Vec<Option<Record>>,
    /// Every free place of the slab, and perhaps places that are taken or cut off meanwhile.
    free: Vec<RecordIndex>,
    /// Invariant: exactly the taken places, under the hashes of their keys.
    index: HashTable<IndexEntry>,
    hasher: RandomState,
    /// The place that was found last: the next one is often asked for the same key. An atomic, so that many may look.
    found_last: AtomicU32,
    /// Invariant: exactly the deadlines of the records.
    deadlines: Deadlines,
    /// Invariant: the sum over the records.
    bytes: usize,
    /// Invariant: exactly the taken places, under the hash slots of their keys. Only in a cluster.
    slots: Option<Box<SlotIndex>>,
}

/// An entry of the hash table. It has the hash, so that growing does not have to visit the keys.
#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    hash: u32,
    at: RecordIndex,
}

impl IndexEntry {
    /// Spreads the bits, as the table takes them from both ends of 64.
    const fn spread(self) -> u64 {
        spread(self.hash)
    }
}

const fn spread(hash: u32) -> u64 {
    (hash as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Keyspace {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// One that finds keys by their hash slots.
    pub(crate) fn by_slot() -> Self {
        Self {
            slots: Some(Box::new(SlotIndex::new())),
            ..Self::default()
        }
    }

    /// An empty one that finds keys by what this one finds them.
    pub(crate) fn empty_like(&self) -> Self {
        match self.slots {
            Some(_) => Self::by_slot(),
            None => Self::new(),
        }
    }

    /// Adds a key that is not there yet.
    ///
    /// # Panics
    ///
    /// If 2^32 places are taken.
    pub(crate) fn insert(&mut self, key: &[u8], value: Value, now: UnixMillis) -> RecordIndex {
        debug_assert!(self.find(key).is_none(), "the key is new");
        let mut record = Record {
            key: key.into(),
            value,
            deadline: None,
            accessed_at: now,
        };
        record.settle();
        self.bytes += record.bytes();
        let at = self.place(record);
        let hash = self.hash(key);
        let entry = IndexEntry { hash, at };
        self.index
            .insert_unique(entry.spread(), entry, |entry| entry.spread());
        if let Some(slots) = &mut self.slots {
            slots.insert(key_slot(key), at.0);
        }
        at
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, at: RecordIndex) -> Record {
        let Some(record) = self.slab.get_mut(at.position()).and_then(Option::take) else {
            unreachable!("an index is used while its record is there");
        };
        if let Some(deadline) = record.deadline {
            self.deadlines.remove(deadline, at);
        }
        let hash = self.hash(&record.key);
        let found = self.index.find_entry(spread(hash), |entry| entry.at == at);
        if let Ok(entry) = found {
            entry.remove();
        }
        self.bytes -= record.bytes();
        if let Some(slots) = &mut self.slots {
            slots.remove(key_slot(&record.key), at.0);
        }
        self.release(at);
        record
    }

    /// Changes a value and keeps count of its memory.
    #[inline]
    pub(crate) fn update<R>(&mut self, at: RecordIndex, change: impl FnOnce(&mut Value) -> R) -> R {
        let Some(record) = self.slab.get_mut(at.position()).and_then(Option::as_mut) else {
            unreachable!("an index is used while its record is there");
        };
        let before = record.value.bytes();
        let result = change(&mut record.value);
        self.bytes = self.bytes - before + record.value.bytes();
        result
    }

    /// Returns whether a stream has its record at an index, which may have been freed meanwhile.
    pub(crate) fn is_stream(&self, at: RecordIndex) -> bool {
        let place = self.slab.get(at.position());
        matches!(place, Some(Some(record)) if matches!(record.value, Value::Stream(_)))
    }

    /// Puts another value in the place of the one that is there, and returns the latter.
    pub(crate) fn replace(&mut self, at: RecordIndex, value: Value) -> Value {
        let old = self.update(at, |place| std::mem::replace(place, value));
        self.record_mut(at).settle();
        old
    }

    /// Sets the deadline of a key or takes it away, and returns the one it had.
    pub(crate) fn set_deadline(
        &mut self,
        at: RecordIndex,
        deadline: Option<UnixMillis>,
    ) -> Option<UnixMillis> {
        let record = self.record_mut(at);
        let old = std::mem::replace(&mut record.deadline, deadline);
        record.settle();
        if let Some(old) = old {
            self.deadlines.remove(old, at);
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert(deadline, at);
        }
        old
    }

    pub(crate) fn touch(&mut self, at: RecordIndex, now: UnixMillis) {
        self.record_mut(at).accessed_at = now;
    }

    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Option<RecordIndex> {
        let last = RecordIndex(self.found_last.load(Ordering::Relaxed));
        if self.is_at(last, key) {
            return Some(last);
        }
        let hash = self.hash(key);
        let is_key = |entry: &IndexEntry| entry.hash == hash && self.is_at(entry.at, key);
        let found = self.index.find(spread(hash), is_key)?;
        self.found_last.store(found.at.0, Ordering::Relaxed);
        Some(found.at)
    }

    /// Whether a place of the slab is that of a key.
    #[inline]
    fn is_at(&self, at: RecordIndex, key: &[u8]) -> bool {
        let place = self.slab.get(at.position()).and_then(Option::as_ref);
        place.is_some_and(|record| *record.key == *key)
    }

    #[inline]
    pub(crate) fn record(&self, at: RecordIndex) -> &Record {
        match self.slab.get(at.position()) {
            Some(Some(record)) => record,
            _ => unreachable!("an index is used while its record is there"),
        }
    }

    /// Returns the first record at or behind a position of the slab, and its position.
    pub(crate) fn next_from(&self, position: usize, places_max: usize) -> Step {
        let end = position.saturating_add(places_max).min(self.slab.len());
        let places = self.slab.get(position..end).unwrap_or_default();
        match places.iter().position(Option::is_some) {
            Some(offset) => Step::Found(index_of(position + offset), position + offset + 1),
            None if end >= self.slab.len() => Step::End,
            None => Step::NotYet(end),
        }
    }

    /// Returns a record by chance, each with the same probability unless almost all places are free.
    pub(crate) fn pick(&self, rng: &mut Rng) -> Option<RecordIndex> {
        if self.slab.is_empty() {
            return None;
        }
        for _ in 0..PICKS_MAX {
            let position = rng.below(self.slab.len());
            if matches!(self.slab.get(position), Some(Some(_))) {
                return Some(index_of(position));
            }
        }
        let start = rng.below(self.slab.len());
        match self.next_from(start, usize::MAX) {
            // The last place is taken.
            Step::End | Step::NotYet(_) => None,
            Step::Found(at, _) => Some(at),
        }
    }

    /// Returns the records in the order of the slab.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.slab.iter().flatten()
    }

    /// Returns how many keys a hash slot has; none if nobody asked for them to be found by slot.
    pub(crate) fn slot_len(&self, slot: u16) -> usize {
        self.slots.as_ref().map_or(0, |slots| slots.len(slot))
    }

    /// Returns the records of a hash slot, in the order in which they came.
    pub(crate) fn records_of_slot(&self, slot: u16) -> impl Iterator<Item = RecordIndex> {
        let slots = self.slots.iter();
        slots.flat_map(move |slots| slots.places(slot).map(RecordIndex))
    }

    pub(crate) const fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.slots_bytes()
    }

    /// Returns what the tables take.
    pub(crate) fn overhead_bytes(&self) -> usize {
        self.len() * RECORD_BYTES + self.slots_bytes()
    }

    fn slots_bytes(&self) -> usize {
        match self.slots {
            Some(_) => self.len() * LINK_BYTES,
            None => 0,
        }
    }

    /// Asserts the invariants.
    pub(crate) fn check(&self) {
        assert!(!matches!(self.slab.last(), Some(None)), "cut off");
        assert_eq!(self.index.len(), self.records().count());
        let deadlines = self.records().filter(|record| record.deadline.is_some());
        assert_eq!(self.deadlines.len(), deadlines.count());
        assert_eq!(self.bytes, self.records().map(Record::bytes).sum::<usize>());
        for (position, record) in self.slab.iter().enumerate() {
            let at = index_of(position);
            match record {
                Some(record) => {
                    assert_eq!(self.find(&record.key), Some(at));
                    let listed = |deadline| self.deadlines.contains(deadline, at);
                    assert!(record.deadline.is_none_or(listed), "a deadline is listed");
                    if let Value::Stream(stream) = &record.value {
                        stream.check();
                    }
                }
                None => assert!(self.free.contains(&at), "a free place is known"),
            }
        }
        if let Some(slots) = &self.slots {
            assert_eq!(slots.total(), self.len());
            let own: BTreeSet<u16> = self.records().map(|record| key_slot(&record.key)).collect();
            let mut places = BTreeSet::new();
            for slot in own {
                let of_slot: Vec<RecordIndex> = self.records_of_slot(slot).collect();
                let is_of_slot = |at: &RecordIndex| key_slot(&self.record(*at).key) == slot;
                assert!(
                    of_slot.iter().all(is_of_slot),
                    "a ring has keys of its slot"
                );
                places.extend(of_slot);
            }
            assert_eq!(places.len(), self.len(), "each key is in a ring");
        }
    }

    fn record_mut(&mut self, at: RecordIndex) -> &mut Record {
        match self.slab.get_mut(at.position()) {
            Some(Some(record)) => record,
            _ => unreachable!("an index is used while its record is there"),
        }
    }

    /// Puts a record into a free place or behind the last.
    fn place(&mut self, record: Record) -> RecordIndex {
        while let Some(at) = self.free.pop() {
            if let Some(place @ None) = self.slab.get_mut(at.position()) {
                *place = Some(record);
                return at;
            }
        }
        let at = index_of(self.slab.len());
        self.slab.push(Some(record));
        at
    }

    /// Makes a place free, and cuts off the free places at the end.
    fn release(&mut self, at: RecordIndex) {
        if at.position() + 1 < self.slab.len() {
            self.free.push(at);
            return;
        }
        while let Some(None) = self.slab.last() {
            self.slab.pop();
        }
        if self.slab.is_empty() {
            self.free.clear();
        }
        if let Some(slots) = &mut self.slots {
            slots.truncate(self.slab.len());
        }
        let wanted = self.slab.len().saturating_mul(2);
        if self.slab.capacity() > SLAB_KEPT && self.slab.capacity() / 4 > wanted {
            self.slab.shrink_to(wanted);
        }
    }

    fn hash(&self, key: &[u8]) -> u32 {
        let [_, _, _, _, a, b, c, d] = self.hasher.hash_one(key).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

impl Clone for Keyspace {
    /// Copies all keys and values to the same places. The copy may take less memory.
    fn clone(&self) -> Self {
        let slab = self.slab.clone();
        Self {
            bytes: slab.iter().flatten().map(Record::bytes).sum(),
            slab,
            free: self.free.clone(),
            index: self.index.clone(),
            hasher: self.hasher.clone(),
            found_last: AtomicU32::default(),
            deadlines: self.deadlines.clone(),
            slots: self.slots.clone(),
        }
    }
}

impl fmt::Debug for Keyspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyspace")
            .field("len", &self.len())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Where a step of a walk over the slab led.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// To this record; go on from this position.
    Found(RecordIndex, usize),
    /// Only to free places; go on from this position.
    NotYet(usize),
    /// Behind the last record.
    End,
}

fn index_of(position: usize) -> RecordIndex {
    RecordIndex(u32::try_from(position).expect("a database has less than 2^32 keys"))
}

/// How often a random place is looked at before the next taken one behind it is good enough.
const PICKS_MAX: usize = 128;

/// A slab of no more places than this is not made smaller.
const SLAB_KEPT: usize = 1_024;
