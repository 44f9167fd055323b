//! The consumers of a group, found by name, listed in the order of their names, and named by a
//! small number that pending entries carry.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::pending::ConsumerIndex;
use crate::time::{Millis, UnixMillis};

/// Somebody who reads from a group. What it has pending is in the group's [`Pending`].
///
/// [`Pending`]: crate::Pending
#[derive(Clone, Debug)]
pub struct Consumer {
    name: Box<[u8]>,
    /// When it last asked for something.
    pub(crate) seen_at: UnixMillis,
    /// When it was last given something.
    pub(crate) active_at: Option<UnixMillis>,
}

impl Consumer {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// When it last asked for something. For one that waits see [`Group::seen_at`].
    ///
    /// [`Group::seen_at`]: crate::Group::seen_at
    #[must_use]
    pub fn seen_at(&self) -> UnixMillis {
        self.seen_at
    }

    /// When it was last given something, if it ever was.
    #[must_use]
    pub fn active_at(&self) -> Option<UnixMillis> {
        self.active_at
    }

    /// Time since it was last given something, if it ever was.
    #[must_use]
    pub fn inactive(&self, now: UnixMillis) -> Option<Millis> {
        self.active_at.map(|at| now.since(at))
    }
}

/// All consumers of a group.
///
/// Invariant: `by_name` has the place of every consumer in `slab` under the hash of its name, and nothing
/// else; `free` holds the other places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consumers {
    by_name: HashTable<ConsumerIndex>,
    hasher: RandomState,
    slab: Vec<Option<Consumer>>,
    free: Vec<ConsumerIndex>,
    name_bytes: usize,
}

impl Consumers {
    /// Finds a consumer, or creates one that was seen now. Says whether it was created.
    pub(crate) fn find_or_create(&mut self, name: &[u8], now: UnixMillis) -> (ConsumerIndex, bool) {
        if let Some(index) = self.find(name) {
            return (index, false);
        }
        let consumer = Some(Consumer {
            name: name.into(),
            seen_at: now,
            active_at: None,
        });
        let index = match self.free.pop() {
            Some(index) => {
                self.slab[index.as_usize()] = consumer;
                index
            }
            None => {
                let index = u32::try_from(self.slab.len()).expect("memory ends before the numbers");
                self.slab.push(consumer);
                ConsumerIndex(index)
            }
        };
        self.name_bytes += name.len();
        let hash = self.hasher.hash_one(name);
        let Self {
            by_name,
            slab,
            hasher,
            ..
        } = self;
        by_name.insert_unique(hash, index, |index| {
            hasher.hash_one(&*at(slab, *index).name)
        });
        (index, true)
    }

    /// Forgets a consumer. Its index will be given to another one.
    pub(crate) fn remove(&mut self, index: ConsumerIndex) {
        let Some(consumer) = self.slab[index.as_usize()].take() else {
            return;
        };
        let hash = self.hasher.hash_one(&*consumer.name);
        if let Ok(entry) = self.by_name.find_entry(hash, |other| *other == index) {
            entry.remove();
        }
        self.name_bytes -= consumer.name.len();
        self.free.push(index);
    }

    pub(crate) fn get_mut(&mut self, index: ConsumerIndex) -> &mut Consumer {
        self.slab[index.as_usize()].as_mut().expect(INDEX_HOLDS)
    }

    pub(crate) fn get(&self, index: ConsumerIndex) -> &Consumer {
        at(&self.slab, index)
    }

    #[inline]
    pub(crate) fn find(&self, name: &[u8]) -> Option<ConsumerIndex> {
        let is_named = |index: &ConsumerIndex| *self.get(*index).name == *name;
        let found = self.by_name.find(self.hasher.hash_one(name), is_named);
        found.copied()
    }

    /// All consumers in byte order of their names, which are put in order for that.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (ConsumerIndex, &Consumer)> {
        let all = self.by_name.iter().map(|&index| (index, self.get(index)));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        all.into_iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Memory held, without the value itself.
    pub(crate) fn bytes(&self) -> usize {
        self.name_bytes
            + self.by_name.allocation_size()
            + self.slab.capacity() * size_of::<Option<Consumer>>()
            + self.free.capacity() * size_of::<ConsumerIndex>()
    }

    /// Panics if the structure contradicts itself.
    pub(crate) fn check(&self) {
        for &index in &self.by_name {
            assert_eq!(self.find(&self.get(index).name), Some(index));
        }
        let living = self.slab.iter().flatten();
        assert_eq!(living.clone().count(), self.by_name.len());
        assert_eq!(self.by_name.len() + self.free.len(), self.slab.len());
        assert_eq!(living.map(|c| c.name.len()).sum::<usize>(), self.name_bytes);
    }
}

/// Indexes come from here and from pending entries, and a consumer that is removed loses those.
const INDEX_HOLDS: &str = "an index is held only while its consumer exists";

/// The consumer at a place of the slab.
fn at(slab: &[Option<Consumer>], index: ConsumerIndex) -> &Consumer {
    slab[index.as_usize()].as_ref().expect(INDEX_HOLDS)
}
