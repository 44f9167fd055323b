//! What became of each entry: who got it when, who acknowledged it, and how it left its stream.
//!
//! A store keeps a ledger only for tests; without one nothing asks for it: that somebody observes what happens is one question for all who may. What
//! is kept is bounded (`RECORDS_MAX`); beyond that the oldest entries of the longest stream are
//! summed up and forgotten.

mod group;
mod history;
mod promise;
mod stream;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use self::group::{ConsumerLedger, GroupLedger, Stray};
pub use self::history::{Deed, Event as LedgerEvent, History as EntryHistory, Mark};
pub use self::promise::{Promise, Work};
pub use self::stream::{EntryLedger, Removal, StreamLedger, Told};
pub use self::summary::Summary;

use crate::event::Event;
use crate::id::StreamId;
use crate::stream::Stream;
use crate::time::UnixMillis;

/// The ledger of a store.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The keys whose streams are in it, by database; all if there is nothing.
    scope: Option<Vec<BTreeSet<Box<[u8]>>>>,
    /// By database and key.
    streams: Vec<BTreeMap<Box<[u8]>, StreamLedger>>,
    /// Who does what is noted, and when.
    mark: Mark,
    lives: u64,
    /// What is known of a stream that has left one key and not come to another yet.
    carried: Option<StreamLedger>,
    /// How many entries were noted since it was last looked whether there is room.
    since_look: usize,
}

/// What is known of a stream, on its way to the ledger of another store.
#[derive(Debug)]
pub(crate) struct CarriedLedger {
    stream: StreamLedger,
    /// How many lives of streams its ledger has counted.
    lives: u64,
}

impl Default for Mark {
    fn default() -> Self {
        Self {
            at: UnixMillis(0),
            client: 0,
        }
    }
}

impl Ledger {
    /// One for all streams, or for none until [`Self::include`] names some.
    pub(crate) fn new(databases: usize, is_for_all: bool) -> Self {
        let scope = (!is_for_all).then(|| vec![BTreeSet::new(); databases]);
        Self {
            scope,
            streams: (0..databases).map(|_| BTreeMap::new()).collect(),
            ..Self::default()
        }
    }

    /// One that notes the same streams, and knows nothing yet.
    pub(crate) fn anew(&self) -> Self {
        Self {
            scope: self.scope.clone(),
            streams: self.streams.iter().map(|_| BTreeMap::new()).collect(),
            mark: self.mark,
            ..Self::default()
        }
    }

    /// One that knows what these know of the streams that are wanted; nothing if there is no ledger. A number tells them
    /// apart.
    pub(crate) fn gathered<'a>(
        ledgers: impl Iterator<Item = (usize, &'a Self)>,
        databases: usize,
        is_wanted: impl Fn(usize, &[u8]) -> bool,
    ) -> Option<Self> {
        let mut gathered: Option<Self> = None;
        for (number, theirs) in ledgers {
            let own = gathered.get_or_insert_with(|| Self {
                mark: theirs.mark,
                ..Self::new(databases, theirs.is_for_all())
            });
            own.lives = own.lives.max(theirs.lives);
            for (own, theirs) in own.streams.iter_mut().zip(&theirs.streams) {
                let wanted = theirs.iter().filter(|(key, _)| is_wanted(number, key));
                own.extend(wanted.map(|(key, stream)| (key.clone(), stream.clone())));
            }
            match (&mut own.scope, &theirs.scope) {
                (Some(own), Some(theirs)) => {
                    for (own, theirs) in own.iter_mut().zip(theirs) {
                        own.extend(theirs.iter().cloned());
                    }
                }
                _ => own.scope = None,
            }
        }
        gathered
    }

    /// Whether it notes what happens under this key.
    pub(crate) fn is_for(&self, db: usize, key: &[u8]) -> bool {
        self.scope
            .as_ref()
            .is_none_or(|scope| scope[db].contains(key))
    }

    /// Notes what follows as done by this client. Gives whose it was before.
    pub const fn set_client(&mut self, client: u64) -> u64 {
        std::mem::replace(&mut self.mark.client, client)
    }

    pub(crate) const fn set_now(&mut self, now: UnixMillis) {
        self.mark.at = now;
    }

    /// The ledger of what lies, or lay, under a key.
    #[must_use]
    pub fn stream(&self, db: usize, key: &[u8]) -> Option<&StreamLedger> {
        self.streams.get(db)?.get(key)
    }

    /// The names of the streams of a database that it knows.
    pub fn streams(&self, db: usize) -> impl Iterator<Item = &[u8]> {
        let streams = self.streams.get(db).into_iter().flatten();
        streams.map(|(key, _)| &**key)
    }

    /// Whether it notes what happens to all streams, and not to some only.
    #[must_use]
    pub const fn is_for_all(&self) -> bool {
        self.scope.is_none()
    }

    /// How much it keeps: streams, groups, consumers, entries, entries in groups, and what happened to them. There are
    /// at most half a million, give or take what came of a thousand entries.
    #[must_use]
    pub fn records(&self) -> usize {
        let streams = self.streams.iter().flat_map(BTreeMap::values);
        streams.map(StreamLedger::records).sum()
    }

    /// Begins anew with what is under this key.
    pub(crate) fn include(&mut self, db: usize, key: &[u8], stream: Option<&Stream>) {
        if let Some(scope) = &mut self.scope {
            scope[db].insert(key.into());
        }
        self.streams[db].remove(key);
        if let Some(stream) = stream {
            self.found(db, key, stream, None);
        }
    }

    /// Notes nothing of this key any more, and forgets what is known. Whether it is left with nothing to note.
    pub(crate) fn exclude(&mut self, db: usize, key: &[u8]) -> bool {
        self.streams[db].remove(key);
        self.scope.as_mut().is_some_and(|scope| {
            scope[db].remove(key);
            scope.iter().all(BTreeSet::is_empty)
        })
    }

    /// A stream came under a key.
    pub(crate) fn on_created(&mut self, db: usize, key: &[u8], stream: &Stream) {
        if let Some(carried) = self.carried.take() {
            if let Some(scope) = &mut self.scope {
                scope[db].insert(key.into());
            }
            let own = self.streams[db].entry(key.into()).or_default();
            own.absorb(carried);
        } else {
            self.found(db, key, stream, Some(self.mark));
        }
    }

    /// A stream is about to come under another key, with all that is known of it.
    pub(crate) fn lift(&mut self, db: usize, key: &[u8]) {
        self.carried = self.streams[db].remove(key);
    }

    /// A stream leaves for another store, with all that is known of it.
    pub(crate) fn give_away(&mut self, db: usize, key: &[u8]) -> Option<CarriedLedger> {
        let stream = self.streams[db].remove(key)?;
        let lives = self.lives;
        Some(CarriedLedger { stream, lives })
    }

    /// A stream is about to come from another store, with all that is known of it.
    pub(crate) fn take_in(&mut self, carried: CarriedLedger) {
        // Its lives are none of those that are to come.
        self.lives = self.lives.max(carried.lives);
        self.carried = Some(carried.stream);
    }

    /// Something happened to a key as a whole.
    pub(crate) fn on_event(&mut self, db: usize, key: &[u8], event: Event) {
        let removal = match event {
            Event::Del | Event::Outdated => Removal::KeyDeleted,
            Event::Expired => Removal::KeyExpired,
            Event::Overwritten => Removal::KeyReplaced,
            Event::MovedAway => Removal::KeyMovedAway,
            _ => return,
        };
        let mut mark = self.mark;
        if matches!(removal, Removal::KeyExpired | Removal::KeyMovedAway) {
            mark.client = 0;
        }
        if let Some(stream) = self.streams[db].get_mut(key) {
            stream.on_gone(removal, mark);
            if stream.is_over() {
                self.streams[db].remove(key);
            }
        }
    }

    /// A database was emptied.
    pub(crate) fn on_flushed(&mut self, db: usize) {
        let mark = self.mark;
        self.streams[db].retain(|_, stream| {
            stream.on_gone(Removal::Flushed, mark);
            !stream.is_over()
        });
    }

    /// Two databases were swapped.
    pub(crate) fn on_swapped(&mut self, one: usize, other: usize) {
        self.streams.swap(one, other);
        if let Some(scope) = &mut self.scope {
            scope.swap(one, other);
        }
    }

    /// Entries were read or claimed.
    pub(crate) fn on_handed(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        deed: Deed,
        ids: &[StreamId],
    ) {
        self.note(db, key, ids.len(), |stream, mark| {
            stream.on_handed(group, consumer, deed, ids, mark);
        });
    }

    /// Entries were acknowledged.
    pub(crate) fn on_acknowledged(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        ids: &[StreamId],
    ) {
        self.note(db, key, ids.len(), |stream, mark| {
            stream.with_group(group, ids, |group, key| group.on_acknowledged(key, mark));
        });
    }

    /// Entries left the pending list since they had left the stream.
    pub(crate) fn on_dropped(&mut self, db: usize, key: &[u8], group: &[u8], ids: &[StreamId]) {
        self.note(db, key, ids.len(), |stream, mark| {
            stream.with_group(group, ids, |group, key| group.on_dropped(key, mark));
        });
    }

    /// Notes that the work of entries is done, and returns how many of them a group knows.
    pub fn note_worked(&mut self, db: usize, key: &[u8], group: &[u8], ids: &[StreamId]) -> u64 {
        let mut known = 0;
        self.note(db, key, ids.len(), |stream, mark| {
            stream.with_group(group, ids, |group, key| {
                known += u64::from(group.on_worked(key, mark));
            });
        });
        known
    }

    /// Notes something of a stream that it knows, which may make it keep so many entries more.
    pub(crate) fn note(
        &mut self,
        db: usize,
        key: &[u8],
        entries: usize,
        act: impl FnOnce(&mut StreamLedger, Mark),
    ) {
        if let Some(stream) = self.streams[db].get_mut(key) {
            act(stream, self.mark);
            self.on_kept(entries);
        }
    }

    /// Something was noted, about so many entries.
    fn on_kept(&mut self, entries: usize) {
        self.since_look += entries.max(1);
        if self.since_look >= LOOK_EVERY {
            self.since_look = 0;
            self.make_room();
        }
    }

    fn found(&mut self, db: usize, key: &[u8], stream: &Stream, mark: Option<Mark>) {
        let scope = self.scope.as_ref();
        if scope.is_none_or(|scope| scope[db].contains(key)) {
            self.lives += 1;
            let own = self.streams[db].entry(key.into()).or_default();
            own.on_found(self.lives, stream, mark);
            self.on_kept(usize::try_from(stream.len()).unwrap_or(usize::MAX));
        }
    }

    /// Forgets what is oldest until enough is forgotten.
    fn make_room(&mut self) {
        while self.records() > RECORDS_MAX {
            let streams = self.streams.iter_mut().flat_map(BTreeMap::values_mut);
            let longest = streams.max_by_key(|stream| stream.entry_count());
            match longest {
                Some(stream) if stream.entry_count() > 0 => {
                    stream.forget((stream.entry_count() / 8).max(1));
                }
                // What is left are names of streams, groups and consumers.
                _ => return self.streams.iter_mut().for_each(BTreeMap::clear),
            }
        }
    }
}

/// How much is kept at most: with some 100 bytes each this is 50 MB.
const RECORDS_MAX: usize = 500_000;

/// After how many notes of entries it is looked whether there is room.
const LOOK_EVERY: usize = 1_000;
