//! What is known of a cluster at one moment: its nodes, and which of them serves which slot.
//!
//! A [`View`] is a plain value. All nodes of a process share one, in [`Topology`](super::Topology); whoever
//! changes it makes a new one, and whoever looks at it keeps the one that it began with.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailrace_storage::SLOT_COUNT;

/// Names a node of a cluster: its place in [`View::nodes`], which it keeps.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeIndex(u16);

impl NodeIndex {
    /// The node at this place.
    ///
    /// # Panics
    ///
    /// If a cluster cannot have that many nodes.
    pub fn new(place: usize) -> Self {
        let place = u16::try_from(place).ok().filter(|place| *place != NOBODY.0);
        Self(place.expect("a cluster has less nodes than slots"))
    }

    /// Its place among the nodes.
    pub fn place(self) -> usize {
        usize::from(self.0)
    }
}

/// Stands for a slot that no node serves.
const NOBODY: NodeIndex = NodeIndex(u16::MAX);

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// 40 hexadecimal digits.
    pub id: String,
    /// 40 hexadecimal digits that a primary and its replicas have in common.
    pub shard: String,
    /// Where clients reach it.
    pub address: Address,
    /// The node whose slots it would take over, if it is a replica.
    pub replica_of: Option<NodeIndex>,
    /// Its configuration epoch.
    pub epoch: u64,
    /// Slots that it gives away, one key after the other, and to whom.
    pub migrating: BTreeMap<u16, NodeIndex>,
    /// Slots that it is given, and by whom.
    pub importing: BTreeMap<u16, NodeIndex>,
    /// The engine of this process that it is a face of; nothing if it is in another process.
    pub engine: Option<usize>,
    /// Nodes know each other if these are the same.
    pub circle: u32,
}

/// Where clients reach a node, and what it says of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The host; nothing if it is the one that the asking client reached this process at.
    pub host: Option<String>,
    /// Its number among the nodes of its process.
    pub number: u16,
    /// The host that a file gives it.
    pub given_host: Option<String>,
    /// The port that it listens on.
    pub listened_on: u16,
    /// The port that it says.
    pub port: u16,
    /// The port of the bus, which only the reference has.
    pub bus_port: u16,
    /// The name of the host; empty if it says none.
    pub host_name: String,
    /// The address for clients of IPv4, if it is another.
    pub ipv4: String,
    /// The address for clients of IPv6, if it is another.
    pub ipv6: String,
    /// The port for clients, if it is another.
    pub client_port: u16,
    /// Where it says that it stands.
    pub zone: Vec<u8>,
}

/// The nodes of a cluster and what each serves.
#[derive(Clone, Debug)]
pub struct View {
    /// All nodes, in the order in which they came.
    pub nodes: Vec<Node>,
    /// The greatest epoch that was given out.
    pub epoch: u64,
    /// Invariant: each is [`NOBODY`] or a primary.
    owners: Box<[NodeIndex]>,
    /// Nodes that a test took down, with the time of that in milliseconds since 1970.
    pub(super) down: BTreeMap<NodeIndex, u64>,
    /// What nodes know that a test keeps from learning more.
    pub(super) outdated: BTreeMap<NodeIndex, Arc<Self>>,
}

impl View {
    /// A cluster of these nodes, none of which serves anything yet.
    pub fn new(nodes: Vec<Node>) -> Self {
        Self {
            epoch: nodes.iter().map(|node| node.epoch).max().unwrap_or(0),
            nodes,
            owners: vec![NOBODY; usize::from(SLOT_COUNT)].into_boxed_slice(),
            down: BTreeMap::new(),
            outdated: BTreeMap::new(),
        }
    }

    /// A node.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.place()]
    }

    /// A node, to be changed.
    pub fn node_mut(&mut self, index: NodeIndex) -> &mut Node {
        &mut self.nodes[index.place()]
    }

    /// All nodes that a node knows, itself included.
    pub fn known_to(&self, index: NodeIndex) -> impl Iterator<Item = (NodeIndex, &Node)> {
        let circle = self.node(index).circle;
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.map(|(place, node)| (NodeIndex::new(place), node));
        nodes.filter(move |(_, node)| node.circle == circle)
    }

    /// The node of an id, if `by` knows it.
    pub fn find(&self, by: NodeIndex, id: &[u8]) -> Option<NodeIndex> {
        let found = self.known_to(by).find(|(_, node)| node.id.as_bytes() == id);
        found.map(|(index, _)| index)
    }

    /// The primary of a node's shard, which may be itself.
    pub fn primary_of(&self, index: NodeIndex) -> NodeIndex {
        self.node(index).replica_of.unwrap_or(index)
    }

    /// The replicas of a node.
    pub fn replicas_of(&self, index: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter(move |(_, node)| node.replica_of == Some(index))
            .map(|(place, _)| NodeIndex::new(place))
    }

    /// The node that serves a slot, as `by` knows it.
    pub fn owner(&self, by: NodeIndex, slot: u16) -> Option<NodeIndex> {
        let owner = self.owners[usize::from(slot)];
        let is_known = owner != NOBODY && self.node(owner).circle == self.node(by).circle;
        is_known.then_some(owner)
    }

    /// The node that serves a slot.
    pub fn owner_of(&self, slot: u16) -> Option<NodeIndex> {
        Some(self.owners[usize::from(slot)]).filter(|owner| *owner != NOBODY)
    }

    /// The slots that somebody else serves than in `before`, in order.
    pub fn moved_since(&self, before: &Self) -> Vec<u16> {
        let owners = self.owners.iter().zip(&before.owners);
        let slots = owners.zip(0..SLOT_COUNT);
        let moved = slots.filter(|((now, before), _)| now != before);
        moved.map(|(_, slot)| slot).collect()
    }

    /// Lets a node serve a slot, or nobody.
    pub fn set_owner(&mut self, slot: u16, owner: Option<NodeIndex>) {
        self.owners[usize::from(slot)] = owner.unwrap_or(NOBODY);
    }

    /// The slots that a node serves, as ranges with both ends.
    pub fn ranges_of(&self, index: NodeIndex) -> Vec<(u16, u16)> {
        let ranges = self.ranges().into_iter();
        let own = ranges.filter(|(_, _, owner)| *owner == index);
        own.map(|(first, last, _)| (first, last)).collect()
    }

    /// All slots that are served, as ranges with both ends and the node that serves them.
    pub fn ranges(&self) -> Vec<(u16, u16, NodeIndex)> {
        let mut ranges: Vec<(u16, u16, NodeIndex)> = Vec::new();
        for (slot, owner) in (0..SLOT_COUNT).zip(&self.owners) {
            match ranges.last_mut() {
                Some((_, last, same)) if same == owner => *last = slot,
                _ => ranges.push((slot, slot, *owner)),
            }
        }
        ranges.retain(|(_, _, owner)| *owner != NOBODY);
        ranges
    }

    /// How many slots a node serves.
    pub fn slots_of(&self, index: NodeIndex) -> usize {
        self.owners.iter().filter(|owner| **owner == index).count()
    }

    /// Whether a node takes the cluster for whole: all slots are served, or that does not matter, and there is
    /// a primary that serves any; and most of those are up.
    pub fn is_whole(&self, by: NodeIndex, must_be_covered: bool) -> bool {
        let owner = |slot: u16| self.owner(by, slot);
        let is_served = |slot: u16| owner(slot).is_some_and(|owner| !self.is_down(owner));
        let is_covered = match must_be_covered {
            true => (0..SLOT_COUNT).all(is_served),
            false => (0..SLOT_COUNT).any(is_served),
        };
        is_covered && (self.down.is_empty() || self.has_majority(by))
    }

    /// The epoch that a node shows, which is that of its primary.
    pub fn epoch_of(&self, index: NodeIndex) -> u64 {
        self.node(self.primary_of(index)).epoch
    }

    /// Gives a node the greatest epoch, unless it is the only one to have that already. Says whether it got it.
    pub fn bump_epoch(&mut self, index: NodeIndex) -> bool {
        let greatest = self.nodes.iter().map(|node| node.epoch).max();
        let own = self.node(index).epoch;
        if own != 0 && Some(own) == greatest {
            return false;
        }
        self.epoch = self.epoch.max(greatest.unwrap_or(0)) + 1;
        self.node_mut(index).epoch = self.epoch;
        true
    }

    /// Lets a replica and its primary change places.
    pub fn promote(&mut self, replica: NodeIndex) {
        let Some(primary) = self.node(replica).replica_of else {
            return;
        };
        for owner in self.owners.iter_mut().filter(|owner| **owner == primary) {
            *owner = replica;
        }
        for node in &mut self.nodes {
            if node.replica_of == Some(primary) {
                node.replica_of = Some(replica);
            }
            let ends = node
                .migrating
                .values_mut()
                .chain(node.importing.values_mut());
            for end in ends.filter(|end| **end == primary) {
                *end = replica;
            }
        }
        let (migrating, importing) = self.node_mut(primary).take_open_slots();
        let node = self.node_mut(replica);
        (node.migrating, node.importing) = (migrating, importing);
        node.replica_of = None;
        self.node_mut(primary).replica_of = Some(replica);
        self.epoch += 1;
        self.node_mut(replica).epoch = self.epoch;
    }

    /// Makes a node of this process the replica of a primary of it. Its own replicas go with it.
    pub fn replicate(&mut self, index: NodeIndex, primary: NodeIndex) {
        let Node { engine, shard, .. } = self.node(primary).clone();
        for place in 0..self.nodes.len() {
            let node = &mut self.nodes[place];
            if place == index.place() || node.replica_of == Some(index) {
                node.replica_of = Some(primary);
                node.engine = engine;
                node.shard.clone_from(&shard);
                node.take_open_slots();
            }
        }
    }

    /// Makes a replica an empty primary, on one of so many engines that no node is a face of. Whether there is one.
    pub fn part(&mut self, index: NodeIndex, engines: usize) -> bool {
        let is_taken = |engine: usize| self.nodes.iter().any(|node| node.engine == Some(engine));
        // The first choice is the one that it had at the start.
        let all = std::iter::once(index.place()).chain(0..engines);
        let mut free = all.filter(|engine| *engine < engines && !is_taken(*engine));
        let Some(engine) = free.next() else {
            return false;
        };
        let node = self.node_mut(index);
        node.replica_of = None;
        node.engine = Some(engine);
        node.take_open_slots();
        true
    }

    /// As [`Self::give`]; a primary of this process that has lost its last slot by it becomes a replica of who has it now.
    pub fn give_and_follow(&mut self, slot: u16, to: NodeIndex) {
        let from = self.owner(to, slot);
        self.give(slot, to);
        if let Some(from) = from
            && from != to
            && self.slots_of(from) == 0
            && self.node(from).engine.is_some()
            && self.node(to).engine.is_some()
        {
            self.replicate(from, to);
        }
    }

    /// Gives a slot to a node, which ends its move there.
    pub fn give(&mut self, slot: u16, to: NodeIndex) {
        if let Some(from) = self.owner_of(slot)
            && from != to
        {
            let migrating = &mut self.node_mut(from).migrating;
            if migrating.get(&slot) == Some(&to) {
                migrating.remove(&slot);
            }
        }
        self.set_owner(slot, Some(to));
    }

    /// Lets a node know none but itself, and nobody know it.
    pub fn leave(&mut self, index: NodeIndex) {
        let last = self.nodes.iter().map(|node| node.circle).max().unwrap_or(0);
        self.node_mut(index).circle = last + 1;
    }

    /// Lets all whom one of two nodes knows know all whom the other knows.
    pub fn join(&mut self, one: NodeIndex, other: NodeIndex) {
        let (from, to) = (self.node(other).circle, self.node(one).circle);
        for node in self.nodes.iter_mut().filter(|node| node.circle == from) {
            node.circle = to;
        }
    }

    /// Spreads all slots over these nodes, as evenly as they can be.
    pub fn spread(&mut self, over: &[NodeIndex]) {
        let count = over.len();
        for (number, index) in over.iter().enumerate() {
            // Rounded as the reference's tools do.
            let bound = |number: usize| (usize::from(SLOT_COUNT) * number + count / 2) / count;
            self.owners[bound(number)..bound(number + 1)].fill(*index);
        }
    }
}

impl Node {
    /// Takes what is on its way to it and from it.
    pub fn take_open_slots(&mut self) -> (BTreeMap<u16, NodeIndex>, BTreeMap<u16, NodeIndex>) {
        let migrating = std::mem::take(&mut self.migrating);
        (migrating, std::mem::take(&mut self.importing))
    }
}

#[cfg(test)]
mod tests;
