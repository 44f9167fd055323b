//! Finds entries by their IDs, one after the other.

use crate::entry::Entry;
use crate::id::StreamId;
use crate::log::Log;
use crate::node::Node;
use crate::range::Position;

/// Finds entries by their IDs; see [`Log::lookup`].
#[derive(Clone, Debug)]
pub struct Lookup<'a> {
    log: &'a Log,
    /// The node that `next` lies in, at hand. None if that is the end of the log, or nothing was looked for yet.
    node: Option<&'a Node>,
    /// The place after the last one that was found, or where one would have been.
    next: Position,
}

impl Log {
    /// Returns what finds entries by their IDs, and faster than [`Log::get`] does when the next one is
    /// soon after the last.
    #[must_use]
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup {
            log: self,
            node: None,
            next: Position::default(),
        }
    }
}

impl<'a> Lookup<'a> {
    /// Finds an entry.
    #[inline]
    pub fn get(&mut self, id: StreamId) -> Option<Entry<'a>> {
        let slot = self.find(id)?;
        self.node?.entry(slot)
    }

    /// Whether there is an entry with this ID.
    #[inline]
    pub fn contains(&mut self, id: StreamId) -> bool {
        self.find(id)
            .zip(self.node)
            .is_some_and(|(slot, node)| !node.is_deleted(slot))
    }

    /// Finds an entry, deleted or not, and returns its place in the node.
    #[inline]
    fn find(&mut self, id: StreamId) -> Option<usize> {
        if let Some(node) = self.node
            && self.next.slot < node.slots()
            && node.id(self.next.slot) == id
        {
            self.next.slot += 1;
            return Some(self.next.slot - 1);
        }
        self.seek(id)
    }

    fn seek(&mut self, id: StreamId) -> Option<usize> {
        let is_near = |node: &Node| node.base() <= id && id <= node.last();
        let near = [self.next.node, self.next.node + 1].into_iter();
        let near = near.take(2 * usize::from(self.node.is_some()));
        let mut near =
            near.filter_map(|at| Some((at, self.log.node(at).filter(|node| is_near(node))?)));
        self.next = match near.next() {
            Some((at, node)) => Position {
                node: at,
                slot: node.seek(id),
            },
            None => self.log.seek(id),
        };
        self.node = self.log.node(self.next.node);
        let node = self.node?;
        let slot = self.next.slot;
        if slot == node.slots() || node.id(slot) != id {
            return None;
        }
        self.next.slot += 1;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::node::NodeLimits;

    proptest! {
        /// Whatever was looked for before: what is found is what the log has.
        #[test]
        fn a_lookup_finds_what_the_log_has(
            deleted in prop::collection::vec(0_u64..300, 0..100),
            wanted in prop::collection::vec((0_u64..310, 1_u64..20), 1..40),
        ) {
            let mut log = Log::new();
            let limits = NodeLimits { entries_max: 20, ..NodeLimits::default() };
            for ms in (0..300).step_by(2) {
                let fields = [b"f".as_slice(), b"v"].into_iter();
                log.append(StreamId::new(ms, 1), fields, limits);
            }
            for ms in deleted {
                log.delete(StreamId::new(ms, 1));
            }
            let mut lookup = log.lookup();
            for (from, count) in wanted {
                for id in (from..from + count).map(|ms| StreamId::new(ms, 1)) {
                    let found = lookup.get(id).map(|entry| entry.id());
                    prop_assert_eq!(found, log.get(id).map(|entry| entry.id()));
                    prop_assert_eq!(lookup.contains(id), log.contains(id));
                }
            }
        }
    }
}
