//! Nodes that a test impairs: some are down, and some go on with what they knew of the cluster.
//!
//! Both are part of the view, so all engines learn of them as of any other change. In a cluster that is no test double
//! there are none.

use std::sync::Arc;

use super::NodeIndex;
use super::View;

impl View {
    /// Whether a node is down.
    pub(crate) fn is_down(&self, node: NodeIndex) -> bool {
        self.down.contains_key(&node)
    }

    /// Since when a node is down, in milliseconds since 1970, if it is.
    pub(crate) fn down_since(&self, node: NodeIndex) -> Option<u64> {
        self.down.get(&node).copied()
    }

    /// The nodes that are down.
    pub(crate) fn all_down(&self) -> impl Iterator<Item = NodeIndex> {
        self.down.keys().copied()
    }

    /// A node is down from now on. What it serves stays its own.
    pub(crate) fn take_down(&mut self, node: NodeIndex, now_ms: u64) {
        self.down.insert(node, now_ms);
    }

    /// A node is back.
    pub(crate) fn bring_back(&mut self, node: NodeIndex) {
        self.down.remove(&node);
    }

    /// What a node knows, if that is not what is the case.
    pub(crate) fn outdated(&self, node: NodeIndex) -> Option<&Arc<Self>> {
        self.outdated.get(&node)
    }

    /// The nodes that go on with what they knew.
    pub(crate) fn all_outdated(&self) -> impl Iterator<Item = NodeIndex> {
        self.outdated.keys().copied()
    }

    /// A node goes on with what it knows now.
    pub(crate) fn keep_outdated(&mut self, node: NodeIndex) {
        let mut known = self.clone();
        known.outdated.clear();
        self.outdated.insert(node, Arc::new(known));
    }

    /// A node learns what is the case. Gives the slots that it took for its shard's, and that others serve.
    pub(crate) fn catch_up(&mut self, node: NodeIndex) -> Vec<u16> {
        let Some(known) = self.outdated.remove(&node) else {
            return Vec::new();
        };
        let engine = self.node(node).engine;
        let is_own =
            |owner: Option<NodeIndex>| owner.is_some_and(|owner| self.node(owner).engine == engine);
        let moved = self.moved_since(&known).into_iter();
        moved
            .filter(|slot| is_own(known.owner_of(*slot)) && !is_own(self.owner_of(*slot)))
            .collect()
    }

    /// Gives back slots and roles to who had them in an earlier view. Nodes stay where they are, and those that are impaired
    /// stay so.
    pub(crate) fn go_back_to(&mut self, earlier: &Self) {
        let now = std::mem::replace(self, earlier.clone());
        for (node, before) in self.nodes.iter_mut().zip(now.nodes) {
            node.address = before.address;
        }
        (self.down, self.outdated) = (now.down, now.outdated);
    }

    /// Makes all nodes well.
    pub(crate) fn heal(&mut self) {
        self.down.clear();
        self.outdated.clear();
    }

    /// Whether most of the primaries that serve anything are up, as `by` sees it.
    pub(super) fn has_majority(&self, by: NodeIndex) -> bool {
        let primaries = self.known_to(by).map(|(index, _)| index);
        let serving = primaries.filter(|index| self.slots_of(*index) > 0);
        let (down, up): (Vec<_>, Vec<_>) = serving.partition(|index| self.is_down(*index));
        up.len() > down.len()
    }
}
