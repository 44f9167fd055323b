//! Removes old entries from a log.

use crate::id::StreamId;
use crate::log::Log;
use crate::node::Node;
use crate::range::Position;

/// How far a trim goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimLimit {
    /// The oldest entries go until no more than this many are left.
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
    /// How many entries may go at most, zero for any number. Means nothing unless approximate.
    pub entries_max: u64,
}

impl Log {
    /// Removes old entries, and returns how many.
    ///
    /// An approximate trim ends at the first node that it may not remove as a whole. A deleted entry holds its node
    /// against [`TrimLimit::MinId`] as a live one does.
    pub fn trim(&mut self, trim: Trim) -> u64 {
        let mut removed = 0;
        while let Some(node) = self.node(0) {
            if self.is_trimmed_to(trim.limit, node) {
                break;
            }
            let live = node.live() as u64;
            if trim.approximate && trim.entries_max != 0 && removed + live > trim.entries_max {
                break;
            }
            if self.goes_whole(trim.limit, node) {
                removed += self.remove_node(0);
                continue;
            }
            if !trim.approximate {
                removed += self.trim_first_node(trim.limit);
            }
            break;
        }
        removed
    }

    /// Whether nothing is to be removed, as seen without looking at entries.
    fn is_trimmed_to(&self, limit: TrimLimit, first: &Node) -> bool {
        match limit {
            TrimLimit::MaxLen(len) => self.len() <= len,
            TrimLimit::MinId(min) => min <= first.base(),
        }
    }

    fn goes_whole(&self, limit: TrimLimit, first: &Node) -> bool {
        match limit {
            TrimLimit::MaxLen(len) => self.len() - first.live() as u64 >= len,
            TrimLimit::MinId(min) => first.last() < min,
        }
    }

    /// Removes entries of the first node one by one. The node goes too, should none be left.
    fn trim_first_node(&mut self, limit: TrimLimit) -> u64 {
        let len_before = self.len();
        while let Some(node) = self.node(0) {
            let slot = node.first_live();
            let goes = node.live() > 0
                && match limit {
                    TrimLimit::MaxLen(len) => self.len() > len,
                    TrimLimit::MinId(min) => node.id(slot) < min,
                };
            if !goes {
                break;
            }
            self.delete_at(Position { node: 0, slot });
        }
        self.settle(0);
        len_before - self.len()
    }
}
