//! The entries of a stream, in the order of their IDs: a run of nodes, of which only the last one grows.

mod restore;
mod seek;

use std::collections::VecDeque;

use crate::entry::Entry;
use crate::id::StreamId;
use crate::node::Buffers;
use crate::node::Node;
use crate::node::NodeLimits;
use crate::radix;
use crate::range::Position;
use crate::range::Range;

/// The entries of a stream, in the order of their IDs.
///
/// Which entries share a node follows the reference to the byte, as approximate trims and XINFO show it.
#[derive(Debug, Default)]
pub struct Log {
    /// Invariant: ascending and apart from each other; each has an entry that is not deleted.
    nodes: VecDeque<Slot>,
    len: u64,
    /// Invariant: the sum of what the nodes hold.
    node_bytes: usize,
    /// Whether the last node went, and none was added since.
    lost_at_end: bool,
    /// Whether IDs went back, so that what was lost may lie anywhere.
    stepped_back: bool,
    /// A node was closed that may be packed, since somebody asked.
    has_closed: bool,
}

/// A node in its place.
#[derive(Clone, Debug)]
struct Slot {
    /// The node's first ID, once more, so that a search touches no node.
    base: StreamId,
    node: Box<Node>,
}

impl Log {
    /// Makes a log without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: VecDeque::new(),
            len: 0,
            node_bytes: 0,
            lost_at_end: false,
            stepped_back: false,
            has_closed: false,
        }
    }

    /// Adds an entry at the end. `fields` are names and values in turn.
    ///
    /// That `id` is greater than every ID the log has, and than every one it ever had unless `step_back` said
    /// otherwise, and that the names and values have no more than a gigabyte together, is the caller's duty.
    #[inline]
    pub fn append<'a>(
        &mut self,
        id: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        limits: NodeLimits,
    ) {
        let text_bytes = fields.clone().map(<[u8]>::len).sum();
        self.append_measured(id, fields, text_bytes, limits);
    }

    /// As [`Log::append`], when it is known how many bytes the names and values have together.
    #[inline]
    pub(crate) fn append_measured<'a>(
        &mut self,
        id: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        text_bytes: usize,
        limits: NodeLimits,
    ) {
        debug_assert!(fields.len().is_multiple_of(2), "each name has a value");
        if self.last_slot_id().is_some_and(|last| last >= id) {
            self.forget_end();
        }
        debug_assert!(self.last_slot_id().is_none_or(|last| last < id));
        if self
            .nodes
            .back()
            .is_none_or(|slot| slot.node.is_full(text_bytes, limits))
        {
            self.open_node(id, limits.packs);
        }
        let slot = self.nodes.back_mut().expect("a node was opened");
        if self.lost_at_end {
            // The node that went lay where this one goes on.
            slot.node.losses.unmarked = true;
            self.lost_at_end = false;
        }
        let bytes_before = slot.node.bytes();
        slot.node.append(id, fields, text_bytes);
        // It may be less: offsets that become wide leave behind what they had to spare.
        self.node_bytes = self.node_bytes - bytes_before + slot.node.bytes();
        self.len += 1;
    }

    /// Notes that the next ID may be one that the log had before, or lie below such.
    pub(crate) fn step_back(&mut self) {
        self.stepped_back = true;
    }

    /// Makes way in the last node for IDs below those of deleted entries.
    #[cold]
    fn forget_end(&mut self) {
        if let Some(slot) = self.nodes.back_mut() {
            let bytes_before = slot.node.bytes();
            slot.node.forget_end();
            self.node_bytes = self.node_bytes - bytes_before + slot.node.bytes();
        }
    }

    fn open_node(&mut self, base: StreamId, packs: bool) {
        let buffers = match self.nodes.back_mut() {
            Some(slot) => {
                let bytes_before = slot.node.bytes();
                let buffers = slot.node.close();
                self.node_bytes = self.node_bytes - bytes_before + slot.node.bytes();
                self.has_closed |= packs && slot.node.may_pack();
                buffers
            }
            None => Buffers::default(),
        };
        let mut node = Box::new(Node::new(base, buffers));
        node.losses.before = std::mem::take(&mut self.lost_at_end);
        self.node_bytes += node.bytes();
        self.nodes.push_back(Slot { base, node });
        if packs && let Some(index) = self.nodes.len().checked_sub(1 + PLAIN_NODES) {
            self.pack(index);
        }
    }

    /// Whether a node was closed that may be packed, since this was last asked.
    #[inline]
    pub(crate) fn take_closed(&mut self) -> bool {
        std::mem::take(&mut self.has_closed)
    }

    /// Packs at most `nodes_max` of the newest nodes that no entry is added to any more, and returns whether there are
    /// more of them. Those that are not among the newest were seen to when entries were added.
    pub(crate) fn pack_closed(&mut self, nodes_max: usize) -> bool {
        let closed = self.nodes.len().saturating_sub(1);
        let oldest = closed.saturating_sub(PLAIN_NODES);
        let unseen = |slot: &&Slot| !slot.node.was_looked_at();
        let count = self.nodes.range(oldest..closed).rev().take_while(unseen);
        let first = closed - count.count();
        let end = closed.min(first + nodes_max);
        for index in first..end {
            self.pack(index);
        }
        end < closed
    }

    /// Packs a node that is not among the newest any more.
    fn pack(&mut self, index: usize) {
        let node = &mut self.nodes[index].node;
        let bytes_before = node.bytes();
        node.pack();
        self.node_bytes = self.node_bytes - bytes_before + node.bytes();
    }

    /// Deletes an entry, and says whether there was one.
    ///
    /// It is only marked, until more than half of its node is deleted. A node goes with its last entry; should that be
    /// the last node, the one before takes new entries again.
    pub fn delete(&mut self, id: StreamId) -> bool {
        let Some(position) = self.find(id) else {
            return false;
        };
        self.delete_at(position);
        self.settle(position.node);
        true
    }

    /// Marks an entry. [`Log::settle`] is to follow.
    pub(crate) fn delete_at(&mut self, position: Position) {
        self.nodes[position.node].node.delete(position.slot);
        self.len -= 1;
    }

    /// Removes a node that has nothing left, and otherwise drops the marked entries if they are many.
    pub(crate) fn settle(&mut self, index: usize) {
        let node = &mut self.nodes[index].node;
        if node.live() == 0 {
            self.remove_node(index);
        } else {
            let bytes_before = node.bytes();
            node.tidy();
            self.node_bytes = self.node_bytes - bytes_before + node.bytes();
        }
    }

    /// Removes a node with all its entries, and returns how many those were.
    pub(crate) fn remove_node(&mut self, index: usize) -> u64 {
        let slot = self.nodes.remove(index).expect("the node is there");
        match self.nodes.get_mut(index) {
            Some(next) => next.node.losses.before = true,
            None => self.lost_at_end = true,
        }
        if self.nodes.capacity() > SLOTS_KEPT && self.nodes.len() * 4 < self.nodes.capacity() {
            self.nodes.shrink_to(self.nodes.len() * 2);
        }
        let count = slot.node.live() as u64;
        self.node_bytes -= slot.node.bytes();
        self.len -= count;
        count
    }

    /// Counts the entries.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no entry.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Counts the nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Counts the nodes of the radix tree in which the reference would keep the nodes. Looks at every node.
    #[must_use]
    pub fn radix_node_count(&self) -> usize {
        radix::node_count(self.nodes.iter().map(|slot| slot.base))
    }

    /// Returns the bytes of memory held, beside the value itself.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.node_bytes + self.nodes.capacity() * size_of::<Slot>()
    }

    /// Returns the ID of the oldest entry.
    #[must_use]
    pub fn first_id(&self) -> Option<StreamId> {
        let node = &self.nodes.front()?.node;
        Some(node.id(node.first_live()))
    }

    /// Returns the ID of the newest entry.
    #[must_use]
    pub fn last_id(&self) -> Option<StreamId> {
        let node = &self.nodes.back()?.node;
        let slot = (0..node.slots())
            .rev()
            .find(|&slot| !node.is_deleted(slot))?;
        Some(node.id(slot))
    }

    /// Finds an entry.
    #[must_use]
    pub fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        let position = self.find(id)?;
        self.nodes[position.node].node.entry(position.slot)
    }

    /// Whether there is an entry with this ID.
    #[must_use]
    pub fn contains(&self, id: StreamId) -> bool {
        self.find(id).is_some()
    }

    /// Walks over the entries from one ID to another, both included.
    #[must_use]
    pub fn range(&self, from: StreamId, to: StreamId) -> Range<'_> {
        let (start, end) = self.bounds(from, to);
        Range::new(self, start, end)
    }

    /// Counts the entries from one ID to another, both included, but no more than `max`.
    ///
    /// Nodes that lie between are not looked into.
    #[must_use]
    pub fn count(&self, from: StreamId, to: StreamId, max: u64) -> u64 {
        self.range(from, to).count_up_to(max)
    }

    /// Whether an ID from `from` to `to` may have been in the log once and have left it. Never false when one did.
    ///
    /// Exact as long as the deleted entries in the range are only marked; see [`Log::delete`].
    #[must_use]
    pub fn may_have_lost(&self, from: StreamId, to: StreamId) -> bool {
        if from > to {
            return false;
        }
        if self.stepped_back {
            return true;
        }
        let start = self.node_of(from);
        for slot in self.nodes.range(start..) {
            let node = &slot.node;
            // The node before this one ends below `from` or below `to`, so the gap between them is looked at in part.
            let gap_counts = node.losses.before && from < slot.base;
            if gap_counts || node.may_have_lost(from, to) {
                return true;
            }
            if to <= node.last() {
                return false;
            }
        }
        self.lost_at_end
    }

    /// Returns the greatest ID of the last node, deleted or not.
    #[inline]
    pub(crate) fn last_slot_id(&self) -> Option<StreamId> {
        self.nodes.back().map(|slot| slot.node.last())
    }

    #[inline]
    pub(crate) fn node(&self, index: usize) -> Option<&Node> {
        self.nodes.get(index).map(|slot| &*slot.node)
    }

    /// Asserts what always holds.
    ///
    /// # Panics
    ///
    /// If it does not hold.
    pub fn check(&self) {
        for slot in &self.nodes {
            assert_eq!(slot.base, slot.node.base());
            slot.node.check();
        }
        let apart = |a: &&Slot, b: &&Slot| a.node.last() < b.base;
        assert!(self.nodes.iter().is_sorted_by(apart), "nodes lie apart");
        let nodes = || self.nodes.iter().map(|slot| &slot.node);
        assert_eq!(self.len, nodes().map(|node| node.live() as u64).sum());
        assert_eq!(self.node_bytes, nodes().map(|node| node.bytes()).sum());
    }
}

impl Clone for Log {
    /// Copies without the spare memory, so that the copy counts bytes of its own.
    fn clone(&self) -> Self {
        let nodes = self.nodes.clone();
        let node_bytes = nodes.iter().map(|slot| slot.node.bytes()).sum();
        Self {
            nodes,
            node_bytes,
            ..*self
        }
    }
}

/// How many of the newest nodes are left as they are, beside the one that grows, while a stream is busy: they are read
/// most, by those who follow it, and a stream that is kept short never pays for packing.
const PLAIN_NODES: usize = if cfg!(test) { 2 } else { 128 };

/// Room for nodes that a log keeps when it shrinks.
const SLOTS_KEPT: usize = 16;

#[cfg(test)]
mod tests;
