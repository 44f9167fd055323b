//! An engine's part in a cluster.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use tailrace_protocol::Request;
use tailrace_storage::key_slot;

use super::NodeIndex;
use super::Topology;
use super::View;
use crate::config::ClusterSettings;
use crate::engine::Engine;
use crate::error::ClusterError;

/// What an engine knows of the cluster that its nodes are part of.
pub(crate) struct Membership {
    topology: Arc<Topology>,
    /// Which engine of the process this is.
    engine: usize,
    /// As it was when this engine looked last.
    view: Arc<View>,
    version: u64,
    /// Which nodes of this engine take the cluster for whole.
    whole: BTreeSet<NodeIndex>,
    must_be_covered: bool,
    /// Something was done that other engines are to hear of.
    has_news: bool,
    /// They must not hear of it yet, since the lock of one of them is held.
    keeps_news: bool,
    /// Where the script that runs may go.
    script: Cell<ScriptSlot>,
}

/// The slot of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScriptSlot {
    /// It may use keys of any.
    Any,
    /// It will be that of the first key that it uses.
    Open,
    /// It uses keys of this one.
    One(u16),
}

impl Membership {
    /// The part of the engine of this number.
    pub(crate) fn new(topology: Arc<Topology>, engine: usize) -> Self {
        let (version, view) = (topology.version(), topology.view());
        let mut membership = Self {
            topology,
            engine,
            view,
            version,
            whole: BTreeSet::new(),
            must_be_covered: true,
            has_news: false,
            keeps_news: false,
            script: Cell::new(ScriptSlot::Any),
        };
        membership.judge();
        membership.note_clients(false);
        membership
    }

    /// The cluster as this engine sees it.
    pub(crate) fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// The cluster as one of its nodes sees it, which a test may keep from learning more.
    #[inline]
    pub(crate) fn view_for(&self, node: NodeIndex) -> &Arc<View> {
        self.view.outdated(node).unwrap_or(&self.view)
    }

    /// What all nodes of this process share.
    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The same, to be kept.
    pub(crate) fn shared_topology(&self) -> Arc<Topology> {
        Arc::clone(&self.topology)
    }

    /// The engine that a node is a face of.
    pub(crate) fn engine_of(&self, node: NodeIndex) -> Option<Arc<Engine>> {
        self.topology.engine_of(node)
    }

    /// Whether no node is a face of this engine.
    pub(super) fn has_no_face(&self) -> bool {
        let own = Some(self.engine);
        self.view.nodes.iter().all(|node| node.engine != own)
    }

    /// Whether a node of this engine takes the cluster for whole.
    pub(crate) fn is_whole(&self, node: NodeIndex) -> bool {
        self.whole.contains(&node)
    }

    /// Notes whether this engine has clients; without clients and nodes it is idle.
    pub(crate) fn note_clients(&self, are_any: bool) {
        let is_idle = !are_any && self.has_no_face();
        self.topology.set_idle(self.engine, is_idle);
    }

    /// Whether a node was a face of this engine in an earlier view.
    pub(super) fn was_own(&self, before: &View, node: NodeIndex) -> bool {
        before.node(node).engine == Some(self.engine)
    }

    /// Whether a node is a face of this engine.
    pub(crate) fn is_own(&self, node: NodeIndex) -> bool {
        self.view.node(node).engine == Some(self.engine)
    }

    /// Whether there is something that this engine has not looked at yet.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.topology.version() != self.version || self.topology.has_messages(self.engine)
    }

    /// Looks at the cluster again, and gives what it was before if it has changed.
    pub(super) fn look(&mut self) -> Option<Arc<View>> {
        let version = self.topology.version();
        if version == self.version {
            return None;
        }
        self.version = version;
        let before = std::mem::replace(&mut self.view, self.topology.view());
        self.judge();
        Some(before)
    }

    /// Changes the cluster, for everybody in it.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut View) -> T) -> T {
        self.has_news = true;
        self.topology.change(change)
    }

    /// Sends a message to the subscribers of all other engines.
    pub(crate) fn send(&mut self, channel: &[u8], text: &[u8]) {
        if self.topology.engines() > 1 {
            self.has_news = true;
            self.topology.send(self.engine, channel, text);
        }
    }

    /// What other engines sent to the subscribers of this one.
    pub(super) fn take_messages(&self) -> Vec<super::topology::Message> {
        self.topology.take_messages(self.engine).into()
    }

    /// The engines that are to hear of what was done, once the lock is released.
    pub(crate) fn take_news(&mut self) -> Vec<Arc<Engine>> {
        if self.keeps_news || !std::mem::take(&mut self.has_news) {
            return Vec::new();
        }
        self.topology.others(self.engine)
    }

    /// Keeps what others are to hear, while one of them is locked, or no longer.
    pub(super) fn keep_news(&mut self, keeps: bool) {
        self.keeps_news = keeps;
    }

    /// Acts on a change of the configuration: nodes say where they are, and may do without some slots.
    pub(crate) fn configure(&mut self, settings: &ClusterSettings, zone: Option<&[u8]>) {
        self.must_be_covered = settings.must_be_covered;
        self.judge();
        let engine = self.engine;
        let announce = |view: &mut View| {
            for node in &mut view.nodes {
                if node.engine == Some(engine) {
                    node.address.announce(settings, zone);
                }
            }
        };
        let mut announced = View::clone(&self.view);
        announce(&mut announced);
        let addresses = |view: &View| -> Vec<_> {
            view.nodes.iter().map(|node| node.address.clone()).collect()
        };
        if addresses(&announced) != addresses(&self.view) {
            self.change(announce);
        }
    }

    /// A node listens on another port now.
    pub(crate) fn listen_at(
        &mut self,
        node: NodeIndex,
        port: u16,
        settings: &ClusterSettings,
        zone: Option<&[u8]>,
    ) {
        self.change(|view| {
            let address = &mut view.node_mut(node).address;
            address.listened_on = port;
            address.announce(settings, zone);
        });
    }

    /// Begins a script with these keys, which is free to use keys of several slots or not.
    pub(crate) fn begin_script(&self, is_free: bool, keys: Request<'_>) {
        let first = keys.get(0).map(key_slot);
        self.script.set(match (is_free, first) {
            (true, _) => ScriptSlot::Any,
            (false, None) => ScriptSlot::Open,
            (false, Some(slot)) => ScriptSlot::One(slot),
        });
    }

    /// Whether the script that runs may use keys of any slot.
    pub(super) fn is_script_free(&self) -> bool {
        self.script.get() == ScriptSlot::Any
    }

    /// Lets the script that runs use keys of a slot, if it may.
    pub(super) fn admit_to_script(&self, slot: u16) -> Result<(), ClusterError> {
        match self.script.get() {
            ScriptSlot::One(own) if own != slot => Err(ClusterError::ScriptCrossSlot),
            ScriptSlot::Open => {
                self.script.set(ScriptSlot::One(slot));
                Ok(())
            }
            ScriptSlot::One(_) | ScriptSlot::Any => Ok(()),
        }
    }

    fn judge(&mut self) {
        let nodes = (0..self.view.nodes.len()).map(NodeIndex::new);
        let own = nodes.filter(|node| self.is_own(*node));
        let is_whole =
            |node: &NodeIndex| self.view_for(*node).is_whole(*node, self.must_be_covered);
        self.whole = own.filter(is_whole).collect();
    }
}
