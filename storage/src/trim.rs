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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeLimits;

    fn filled(count: u64) -> Log {
        let mut log = Log::new();
        for ms in 1..=count {
            let fields = [b"f".as_slice(), b"v"];
            log.append(
                StreamId::new(ms, 0),
                fields.into_iter(),
                NodeLimits::default(),
            );
        }
        log
    }

    fn about(limit: TrimLimit, entries_max: u64) -> Trim {
        Trim {
            limit,
            approximate: true,
            entries_max,
        }
    }

    fn exactly(limit: TrimLimit) -> Trim {
        Trim {
            limit,
            approximate: false,
            entries_max: 0,
        }
    }

    fn min_id(ms: u64) -> TrimLimit {
        TrimLimit::MinId(StreamId::new(ms, 0))
    }

    #[test]
    fn about_so_many_leaves_whole_nodes() {
        let mut log = filled(250);
        for (len, removed) in [(120, 100), (50, 100), (1, 0), (0, 50)] {
            let trim = about(TrimLimit::MaxLen(len), 0);
            assert_eq!(log.trim(trim), removed, "{len}");
            log.check();
        }
        assert!(log.is_empty());
    }

    #[test]
    fn about_from_an_id_on_leaves_whole_nodes() {
        let mut log = filled(250);
        for (ms, removed) in [(150, 100), (201, 100), (202, 0), (251, 50)] {
            assert_eq!(log.trim(about(min_id(ms), 0)), removed, "{ms}");
            log.check();
        }
    }

    #[test]
    fn no_more_than_the_limit_goes_at_once() {
        let mut log = filled(250);
        let limit = TrimLimit::MaxLen(0);
        for (entries_max, removed) in [(99, 0), (100, 100), (199, 150)] {
            assert_eq!(log.trim(about(limit, entries_max)), removed);
        }
    }

    #[test]
    fn exact_trims_end_within_a_node() {
        let mut log = filled(250);
        assert_eq!(log.trim(exactly(TrimLimit::MaxLen(120))), 130);
        assert_eq!(log.first_id(), Some(StreamId::new(131, 0)));
        log.check();
        assert_eq!(log.trim(exactly(min_id(240))), 109);
        assert_eq!(log.first_id(), Some(StreamId::new(240, 0)));
        log.check();
        assert_eq!(log.trim(exactly(TrimLimit::MaxLen(0))), 11);
        assert_eq!(log.node_count(), 0);
    }

    /// The reference keeps the node here, with nothing in it, since its last entry is not below the ID.
    #[test]
    fn a_trim_leaves_no_node_of_deleted_entries() {
        let mut log = filled(50);
        for ms in 40..=50 {
            log.delete(StreamId::new(ms, 0));
        }
        assert_eq!(log.trim(about(min_id(45), 0)), 0);
        assert_eq!(log.trim(exactly(min_id(45))), 39);
        assert_eq!((log.len(), log.node_count()), (0, 0));
        log.check();
    }
}
