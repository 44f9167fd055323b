//! The consumers of a group, found by name, listed in the order of their names, and named by a
//! small number that pending entries carry.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::pending::ConsumerIndex;
use crate::time::{Millis, UnixMillis};

/// Somebody who reads from a group. What it has pending is in the group's [`Pending`].
///
/// [`Pending`]: crate::Pending
#[derive(Clone, Debug)]
pub struct Consumer {
    name: Arc<[u8]>,
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
/// Invariant: `by_name` maps the name of every consumer in `slab` to its place there, and nothing
/// else; `free` holds the other places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consumers {
    by_name: BTreeMap<Arc<[u8]>, ConsumerIndex>,
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
        let name: Arc<[u8]> = Arc::from(name);
        let consumer = Some(Consumer {
            name: Arc::clone(&name),
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
        self.by_name.insert(name, index);
        (index, true)
    }

    /// Forgets a consumer. Its index will be given to another one.
    pub(crate) fn remove(&mut self, index: ConsumerIndex) {
        let Some(consumer) = self.slab[index.as_usize()].take() else {
            return;
        };
        self.by_name.remove(&consumer.name);
        self.name_bytes -= consumer.name.len();
        self.free.push(index);
    }

    pub(crate) fn get_mut(&mut self, index: ConsumerIndex) -> &mut Consumer {
        self.slab[index.as_usize()].as_mut().expect(INDEX_HOLDS)
    }

    pub(crate) fn get(&self, index: ConsumerIndex) -> &Consumer {
        self.slab[index.as_usize()].as_ref().expect(INDEX_HOLDS)
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<ConsumerIndex> {
        self.by_name.get(name).copied()
    }

    /// All consumers in byte order of their names.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (ConsumerIndex, &Consumer)> {
        self.by_name.values().map(|&index| (index, self.get(index)))
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Memory held, without the value itself.
    pub(crate) fn bytes(&self) -> usize {
        self.name_bytes
            + self.by_name.len() * NAME_OVERHEAD_BYTES
            + self.slab.capacity() * size_of::<Option<Consumer>>()
            + self.free.capacity() * size_of::<ConsumerIndex>()
    }

    /// Panics if the structure contradicts itself.
    pub(crate) fn check(&self) {
        for (name, &index) in &self.by_name {
            assert_eq!(*name, self.get(index).name);
        }
        let living = self.slab.iter().flatten();
        assert_eq!(living.clone().count(), self.by_name.len());
        assert_eq!(self.by_name.len() + self.free.len(), self.slab.len());
        assert_eq!(living.map(|c| c.name.len()).sum::<usize>(), self.name_bytes);
    }
}

/// Indexes come from here and from pending entries, and a consumer that is removed loses those.
const INDEX_HOLDS: &str = "an index is held only while its consumer exists";

/// About what a name takes beside its bytes: two reference counts and its place in the B-tree.
const NAME_OVERHEAD_BYTES: usize = 48;
