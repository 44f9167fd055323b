//! What became of the entries of a stream, in all its groups and over all its lives.

use std::collections::BTreeMap;

use super::group::GroupLedger;
use super::history::{Deed, History, Mark};
use super::promise::Promise;
use crate::id::StreamId;
use crate::stream::Stream;

/// The ledger of what lies, or lay, under a key.
#[derive(Clone, Debug, Default)]
pub struct StreamLedger {
    /// Which life of a stream this is; none if there is none under the key.
    life: Option<u64>,
    entries: BTreeMap<EntryKey, EntryLedger>,
    /// No entry of this life below is live.
    live_from: StreamId,
    groups: BTreeMap<Box<[u8]>, GroupLedger>,
}

/// An entry of one life of a stream: when a key is deleted, its IDs are possible again.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct EntryKey {
    pub(super) life: u64,
    pub(super) id: StreamId,
}

/// What is known of an entry, whatever the group.
#[derive(Clone, Copy, Debug)]
pub struct EntryLedger {
    /// When it was added, if that was since the ledger began.
    pub added: Option<Mark>,
    /// How and when it left the stream.
    pub removed: Option<(Removal, Mark)>,
}

/// How an entry leaves its stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Removal {
    /// By trimming.
    Trimmed,
    /// By its ID.
    Deleted,
    /// With its key, which was deleted.
    KeyDeleted,
    /// With its key, which expired.
    KeyExpired,
    /// With its key, whose place something else took.
    KeyReplaced,
    /// With its key, which another server has now.
    KeyMovedAway,
    /// With all keys.
    Flushed,
}

/// An entry in a group, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Its ID.
    pub id: StreamId,
    /// What concerns all groups.
    pub entry: EntryLedger,
    /// What happened in the group.
    pub history: &'a History,
}

impl StreamLedger {
    /// The ledger of a group.
    #[must_use]
    pub fn group(&self, name: &[u8]) -> Option<&GroupLedger> {
        self.groups.get(name)
    }

    /// The names of all groups.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.groups.keys().map(|name| &**name)
    }

    /// The entries of a group for which a promise was not kept, lowest ID first.
    pub fn broken<'a>(
        &'a self,
        group: &'a GroupLedger,
        promise: Promise,
    ) -> impl Iterator<Item = Told<'a>> {
        let broken = group.broken(promise);
        broken.map(|(key, history)| self.tell(key, history))
    }

    /// What is known of an ID in a group, in the order of the stream's lives.
    pub fn history<'a>(
        &'a self,
        group: &'a GroupLedger,
        id: StreamId,
    ) -> impl Iterator<Item = Told<'a>> {
        let keys = self.entries.keys().filter(move |key| key.id == id);
        keys.filter_map(|key| Some(self.tell(*key, group.history(*key)?)))
    }

    /// How much is kept, of the size of a history.
    pub(super) fn records(&self) -> usize {
        let groups: usize = self.groups.values().map(GroupLedger::records).sum();
        1 + self.entries.len() + groups
    }

    /// How many entries it knows.
    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is under the key, and nothing is to be said of what was.
    pub(super) fn is_over(&self) -> bool {
        self.life.is_none() && self.groups.is_empty()
    }

    /// The entries that are there, by the ledger's lights.
    #[cfg(test)]
    pub(super) fn live_ids(&self) -> Vec<StreamId> {
        self.live().map(|key| key.id).collect()
    }

    /// A stream came under the key, new or from elsewhere; `mark` is nothing if it was there before.
    pub(super) fn on_found(&mut self, life: u64, stream: &Stream, mark: Option<Mark>) {
        self.life = Some(life);
        self.live_from = StreamId::MIN;
        for entry in stream.log().range(StreamId::MIN, StreamId::MAX) {
            let (id, removed) = (entry.id(), None);
            let entry = EntryLedger {
                added: mark,
                removed,
            };
            self.entries.insert(EntryKey { life, id }, entry);
        }
        for (name, group) in stream.groups() {
            let live: Vec<_> = self.live().collect();
            let own = self.groups.entry(name.into()).or_default();
            own.on_found(group, life, live.into_iter());
        }
    }

    /// The stream is gone from under the key.
    pub(super) fn on_gone(&mut self, removal: Removal, mark: Mark) {
        self.remove_live(StreamId::MAX, removal, mark);
        self.life = None;
        for group in self.groups.values_mut().filter(|group| group.is_alive()) {
            group.on_destroyed(mark);
        }
    }

    /// An entry was added.
    pub(crate) fn on_added(&mut self, id: StreamId, mark: Mark) {
        let Some(key) = self.key(id) else {
            return;
        };
        let entry = EntryLedger {
            added: Some(mark),
            removed: None,
        };
        self.entries.insert(key, entry);
        let groups = self.groups.values_mut();
        groups.for_each(|group| group.on_added(key));
    }

    /// Entries were trimmed; the first that is left is this one.
    pub(crate) fn on_trimmed(&mut self, first_left: Option<StreamId>, mark: Mark) {
        let end = first_left.map_or(Some(StreamId::MAX), StreamId::prev);
        if let Some(end) = end {
            self.remove_live(end, Removal::Trimmed, mark);
            // The next one comes behind those that were there, which are all gone.
            self.live_from = first_left
                .or_else(|| self.last_id())
                .unwrap_or(self.live_from);
        }
    }

    /// Entries of these IDs, as far as they were there, were deleted.
    pub(crate) fn on_deleted(&mut self, ids: &[StreamId], mark: Mark) {
        for key in ids
            .iter()
            .filter_map(|id| self.key(*id))
            .collect::<Vec<_>>()
        {
            self.remove(key, Removal::Deleted, mark);
        }
    }

    pub(crate) fn on_group_created(&mut self, name: &[u8], start: StreamId) {
        let live: Vec<_> = self.live().collect();
        let group = self.groups.entry(name.into()).or_default();
        group.on_created(start, live.into_iter());
    }

    pub(crate) fn on_group_set(&mut self, name: &[u8], start: StreamId) {
        let live: Vec<_> = self.live().collect();
        if let Some(group) = self.groups.get_mut(name) {
            group.on_set(start, live.into_iter());
        }
    }

    /// Entries went to a consumer, which reads all the same if they are none.
    pub(super) fn on_handed(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        deed: Deed,
        ids: &[StreamId],
        mark: Mark,
    ) {
        let Some(life) = self.life else {
            return;
        };
        if let Some(group) = self.groups.get_mut(group) {
            let consumer = group.on_reader(mark.client, consumer);
            for &id in ids {
                let before = EntryLedger {
                    added: None,
                    removed: None,
                };
                self.entries.entry(EntryKey { life, id }).or_insert(before);
                group.on_handed(EntryKey { life, id }, deed, consumer, mark);
            }
        }
    }

    /// Does something about IDs of this life in a group.
    pub(super) fn with_group(
        &mut self,
        group: &[u8],
        ids: &[StreamId],
        mut act: impl FnMut(&mut GroupLedger, EntryKey),
    ) {
        if let (Some(life), Some(group)) = (self.life, self.groups.get_mut(group)) {
            ids.iter().for_each(|&id| act(group, EntryKey { life, id }));
        }
    }

    pub(crate) fn on_group_destroyed(&mut self, name: &[u8], mark: Mark) {
        if let Some(group) = self.groups.get_mut(name) {
            group.on_destroyed(mark);
        }
    }

    pub(crate) fn on_consumer_deleted(&mut self, group: &[u8], consumer: &[u8], mark: Mark) {
        if let Some(group) = self.groups.get_mut(group) {
            group.on_consumer_deleted(consumer, mark);
        }
    }

    /// Forgets the oldest of the entries, so many of them.
    pub(super) fn forget(&mut self, count: usize) {
        for _ in 0..count {
            let Some((key, _)) = self.entries.pop_first() else {
                return;
            };
            let is_of_now = Some(key.life) == self.life;
            let groups = self.groups.values_mut();
            groups.for_each(|group| group.forget(key, is_of_now));
        }
    }

    /// Takes in what is known of a stream that takes this one's place.
    pub(super) fn absorb(&mut self, newer: Self) {
        self.life = newer.life;
        self.live_from = newer.live_from;
        self.entries.extend(newer.entries);
        for (name, group) in newer.groups {
            self.groups.entry(name).or_default().absorb(group);
        }
    }

    fn tell<'a>(&self, key: EntryKey, history: &'a History) -> Told<'a> {
        let unknown = EntryLedger {
            added: None,
            removed: None,
        };
        let entry = self.entries.get(&key).copied().unwrap_or(unknown);
        let id = key.id;
        Told { id, entry, history }
    }

    fn key(&self, id: StreamId) -> Option<EntryKey> {
        self.life.map(|life| EntryKey { life, id })
    }

    /// The entries of this life from where any may be live.
    fn recent(&self) -> impl DoubleEndedIterator<Item = (EntryKey, EntryLedger)> {
        let ends = self.key(self.live_from).zip(self.key(StreamId::MAX));
        let entries = ends.map(|(from, to)| self.entries.range(from..=to));
        let entries = entries.into_iter().flatten();
        entries.map(|(key, entry)| (*key, *entry))
    }

    fn last_id(&self) -> Option<StreamId> {
        self.recent().next_back().map(|(key, _)| key.id)
    }

    fn live(&self) -> impl Iterator<Item = EntryKey> {
        let live = self.recent().filter(|(_, entry)| entry.removed.is_none());
        live.map(|(key, _)| key)
    }

    fn remove_live(&mut self, end: StreamId, removal: Removal, mark: Mark) {
        let gone: Vec<_> = self.live().take_while(|key| key.id <= end).collect();
        gone.into_iter()
            .for_each(|key| self.remove(key, removal, mark));
    }

    fn remove(&mut self, key: EntryKey, removal: Removal, mark: Mark) {
        let Some(entry) = self.entries.get_mut(&key) else {
            return;
        };
        if entry.removed.is_none() {
            entry.removed = Some((removal, mark));
            let groups = self.groups.values_mut();
            groups.for_each(|group| group.on_removed(key));
        }
    }
}
