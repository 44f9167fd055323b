//! Entries that leave a node: marked at first, and dropped when they are many.

use super::{Node, short};
use crate::entry::EntryHead;
use crate::id::StreamId;
use crate::offsets::Offsets;

/// What IDs a node cannot account for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// A node that lay right before this one is gone.
    pub(crate) before: bool,
    /// Entries of this node's own range left without a mark in the data.
    pub(crate) unmarked: bool,
}

impl Node {
    /// Marks an entry that was not deleted yet. The caller then looks whether anything is left, and calls
    /// [`Node::tidy`] if so.
    pub(crate) fn delete(&mut self, index: usize) {
        let span = self.offsets.span(index, self.data.len());
        self.dead_bytes += short(span.len());
        EntryHead::mark_deleted(&mut self.data[span.start]);
        self.live -= 1;
        if index == self.first_live() && self.live > 0 {
            let next = (index + 1..self.slots())
                .find(|&index| !self.is_deleted(index))
                .expect("a live entry is after the deleted ones");
            self.first_live = short(next);
        }
    }

    /// Drops deleted entries from the data if they are more than half of it. What the node counts stays.
    pub(crate) fn tidy(&mut self) {
        let names_end = self.offsets.start(0);
        let entry_bytes = self.data.len() - names_end;
        let dead_bytes = self.dead_bytes as usize;
        if dead_bytes < DEAD_BYTES_MIN || dead_bytes * 2 <= entry_bytes {
            return;
        }
        self.drop_marked();
    }

    /// Forgets deleted entries behind the last one that is not, so that their IDs may come again.
    pub(crate) fn forget_end(&mut self) {
        self.drop_marked();
        self.last = self.id(self.slots() - 1);
    }

    fn drop_marked(&mut self) {
        let names_end = self.offsets.start(0);
        let mut data = Vec::with_capacity(self.data.len() - self.dead_bytes as usize);
        let mut offsets = Offsets::with_capacity(self.live());
        data.extend_from_slice(&self.data[..names_end]);
        for index in (self.first_live()..self.slots()).filter(|&index| !self.is_deleted(index)) {
            offsets.push(data.len());
            data.extend_from_slice(&self.data[self.offsets.span(index, self.data.len())]);
        }
        self.data = data;
        self.offsets = offsets;
        self.first_live = 0;
        self.dead_bytes = 0;
        self.losses.unmarked = true;
    }

    /// Whether an entry with an ID from `from` to `to` may have left. Never false when one did.
    pub(crate) fn may_have_lost(&self, from: StreamId, to: StreamId) -> bool {
        if to < self.base || from > self.last {
            return false;
        }
        self.losses.unmarked || (self.dead_bytes > 0 && self.has_mark_between(from, to))
    }

    fn has_mark_between(&self, from: StreamId, to: StreamId) -> bool {
        (self.seek(from)..self.slots())
            .take_while(|&index| self.id(index) <= to)
            .any(|index| self.is_deleted(index))
    }
}

/// Fewer deleted bytes than this are not worth a rewrite of the node.
const DEAD_BYTES_MIN: usize = 64;
