//! Where an ID lies in a log.

use super::Log;
use crate::id::StreamId;
use crate::range::Position;
use crate::search::{guess, partition_point_near};

impl Log {
    /// Returns the positions of the first entry not below `from` and of the first one above `to`.
    pub(super) fn bounds(&self, from: StreamId, to: StreamId) -> (Position, Position) {
        if from > to {
            return (Position::default(), Position::default());
        }
        let end = match to.next() {
            Some(after) => self.seek(after),
            None => Position::start_of(self.nodes.len()),
        };
        (self.seek(from), end)
    }

    /// Returns the position of the first entry, deleted or not, whose ID is not below this one.
    pub(crate) fn seek(&self, id: StreamId) -> Position {
        let index = self.node_of(id);
        match self.nodes.get(index) {
            Some(slot) if slot.base < id => Position {
                node: index,
                slot: slot.node.seek(id),
            },
            _ => Position::start_of(index),
        }
    }

    /// As [`Log::seek`], and faster if it is this position, as who goes on where they stopped expect.
    pub(crate) fn seek_from(&self, known: Position, id: StreamId) -> Position {
        if self.is_place_of(known, id) {
            known
        } else {
            self.seek(id)
        }
    }

    /// Whether the entries before this position have IDs below this one, and those from it on have not.
    fn is_place_of(&self, position: Position, id: StreamId) -> bool {
        let Some(node) = self.node(position.node) else {
            let is_end = position == Position::start_of(self.nodes.len());
            return is_end && self.last_slot_id().is_none_or(|last| last < id);
        };
        let (at, slots) = (position.slot, node.slots());
        let is_behind = match at.checked_sub(1) {
            Some(before) => before < slots && node.id(before) < id,
            None => position.node == 0 || self.nodes[position.node - 1].node.last() < id,
        };
        let is_ahead = match at < slots {
            true => node.id(at) >= id,
            false => self
                .nodes
                .get(position.node + 1)
                .is_none_or(|next| next.base >= id),
        };
        is_behind && is_ahead
    }

    /// Returns the first node that ends at this ID or after it.
    pub(super) fn node_of(&self, id: StreamId) -> usize {
        // Most look for what is newer than everything.
        if self.last_slot_id().is_none_or(|last| last < id) {
            return self.nodes.len();
        }
        let after = partition_point_near(self.nodes.len(), self.guess(id), |index| {
            self.nodes[index].base <= id
        });
        match after.checked_sub(1) {
            Some(index) if self.nodes[index].node.last() >= id => index,
            _ => after,
        }
    }

    /// Returns about where the node of an ID is, as if time passed evenly over all nodes.
    fn guess(&self, id: StreamId) -> usize {
        let ends = self.nodes.front().zip(self.nodes.back());
        ends.map_or(0, |(first, last)| {
            guess(self.nodes.len(), first.base.ms, last.base.ms, id.ms)
        })
    }

    /// Returns the position of an entry that is not deleted.
    pub(super) fn find(&self, id: StreamId) -> Option<Position> {
        let position = self.seek(id);
        let node = self.node(position.node)?;
        let found = position.slot < node.slots()
            && node.id(position.slot) == id
            && !node.is_deleted(position.slot);
        found.then_some(position)
    }
}
