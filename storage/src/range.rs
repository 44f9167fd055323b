//! Walks over a part of a log, from either end.

use crate::entry::Entry;
use crate::id::StreamId;
use crate::log::Log;
use crate::node::Node;

/// Where an entry is, or would be. The place after a node's last entry is that before the next node's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) node: usize,
    pub(crate) slot: usize,
}

impl Position {
    #[inline]
    pub(crate) const fn start_of(node: usize) -> Self {
        Self { node, slot: 0 }
    }
}

/// Walks over a part of a log; see [`Log::range`].
#[derive(Clone, Debug)]
pub struct Range<'a> {
    log: &'a Log,
    start: Position,
    end: Position,
    /// The node that `start` lies in, at hand. None if that is the end of the log.
    front: Option<&'a Node>,
    /// The node that `end` lies in, at hand. None if that is the end of the log.
    back: Option<&'a Node>,
}

impl<'a> Range<'a> {
    #[inline]
    pub(crate) fn new(log: &'a Log, start: Position, end: Position) -> Self {
        Self {
            log,
            start,
            end,
            front: log.node(start.node),
            back: log.node(end.node),
        }
    }

    /// Counts the entries that are left, but no more than `max`.
    ///
    /// Nodes that lie between are not looked into.
    #[must_use]
    pub fn count_up_to(&self, max: u64) -> u64 {
        let Self { log, end, .. } = *self;
        let mut start = self.start;
        let mut count = 0;
        while start < end && count < max {
            let Some(node) = log.node(start.node) else {
                break;
            };
            let slots_end = if start.node == end.node {
                end.slot
            } else {
                node.slots()
            };
            count += node.live_among(start.slot..slots_end) as u64;
            start = Position::start_of(start.node + 1);
        }
        count.min(max)
    }

    /// Takes the ID alone of the first of the entries that are left.
    #[inline]
    pub(crate) fn next_id(&mut self) -> Option<StreamId> {
        self.next_by(Node::live_id)
    }

    /// Returns the place of the entries that are left.
    pub(crate) const fn start(&self) -> Position {
        self.start
    }

    /// Takes the first of the entries that are left by what `look` makes of it.
    #[inline]
    fn next_by<T>(&mut self, look: impl Fn(&'a Node, usize) -> Option<T>) -> Option<T> {
        while self.start < self.end {
            let node = self.front?;
            if self.start.slot == node.slots() {
                self.start = Position::start_of(self.start.node + 1);
                self.front = self.log.node(self.start.node);
                continue;
            }
            let slot = self.start.slot;
            self.start.slot += 1;
            if let Some(found) = look(node, slot) {
                return Some(found);
            }
        }
        None
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        self.next_by(Node::entry)
    }
}

impl DoubleEndedIterator for Range<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        while self.start < self.end {
            if self.end.slot == 0 {
                let node = self.end.node - 1;
                self.back = self.log.node(node);
                let slot = self.back?.slots();
                self.end = Position { node, slot };
                continue;
            }
            self.end.slot -= 1;
            if let Some(entry) = self.back?.entry(self.end.slot) {
                return Some(entry);
            }
        }
        None
    }
}

impl Log {
    /// Walks over the entries from a place on.
    pub(crate) fn range_from(&self, start: Position) -> Range<'_> {
        Range::new(self, start, Position::start_of(self.node_count()))
    }

    /// Walks over all entries.
    #[must_use]
    pub fn iter(&self) -> Range<'_> {
        self.range(StreamId::MIN, StreamId::MAX)
    }
}

impl<'a> IntoIterator for &'a Log {
    type Item = Entry<'a>;
    type IntoIter = Range<'a>;

    fn into_iter(self) -> Range<'a> {
        self.iter()
    }
}
