//! A log that is put together of whole nodes, as they come from elsewhere.

use super::Log;
use super::PLAIN_NODES;
use super::Slot;
use crate::node::Node;

impl Log {
    /// Adds a node behind the last one. That its IDs are above all others is the caller's duty.
    ///
    /// What lay between the two is unknown. `packs` says whether long values may be packed, at once or later.
    pub(crate) fn push_node(&mut self, mut node: Node, packs: bool) {
        debug_assert!(self.last_slot_id().is_none_or(|last| last < node.base()));
        if let Some(slot) = self.nodes.back_mut() {
            let bytes_before = slot.node.bytes();
            // Each node comes with its own buffers.
            let _ = slot.node.close();
            self.node_bytes = self.node_bytes - bytes_before + slot.node.bytes();
            self.has_closed |= packs && slot.node.may_pack();
        }
        node.losses.before = true;
        self.len += node.live() as u64;
        self.node_bytes += node.bytes();
        self.nodes.push_back(Slot {
            base: node.base(),
            node: Box::new(node),
        });
        if packs && let Some(index) = self.nodes.len().checked_sub(1 + PLAIN_NODES) {
            self.pack(index);
        }
    }

    /// Notes that IDs behind the last node may have been lost.
    pub(crate) const fn lose_end(&mut self) {
        self.lost_at_end = true;
    }

    /// Returns the nodes in order.
    pub(crate) fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.nodes.iter().map(|slot| &*slot.node)
    }
}
