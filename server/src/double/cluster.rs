//! The cluster in the hands of a test: slots and roles that go elsewhere at once, nodes that are down, and nodes that know
//! no better.
//!
//! What is asked for may concern several engines, so it is done from outside, while the command that asked for it waits.

use std::sync::Arc;

use super::jobs::Outcome;
use super::stage::Stage;
use crate::client::ClientId;
use crate::cluster::NodeIndex;
use crate::cluster::Topology;
use crate::cluster::View;
use crate::cluster::move_slot;
use crate::cluster::return_slot;
use crate::state::State;

/// What is to become of the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// A slot with its keys belongs to a node.
    Move(u16, NodeIndex),
    /// A slot is on its way to a node.
    Begin(u16, NodeIndex),
    /// A slot that is on its way has arrived with all its keys.
    End(u16),
    /// A slot that is on its way stays where it is, with all its keys.
    Cancel(u16),
    /// A replica takes the place of its primary: this one, or the first of this one's.
    FailOver(NodeIndex),
    /// A node is down.
    Kill(NodeIndex),
    /// A node is back.
    Revive(NodeIndex),
    /// A node goes on with what it knows.
    Keep(NodeIndex),
    /// A node learns what is the case.
    CatchUp(NodeIndex),
}

/// A client that asks for a change, and that stays connected whatever it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    /// The number of the client.
    pub(crate) number: u64,
    pub(crate) now_ms: u64,
}

/// Changes the cluster. When this returns, all nodes have acted on it.
pub(crate) fn apply(stage: &Stage, topology: &Topology, change: Change, asker: Asker) -> Outcome {
    let done = match change {
        Change::Move(slot, to) => give(topology, slot, to),
        Change::Begin(slot, to) => topology.change(|view| begin(view, slot, to)),
        Change::End(slot) => end(topology, slot),
        Change::Cancel(slot) => cancel(topology, slot),
        Change::FailOver(node) => topology.change(|view| fail_over(view, node)),
        Change::Kill(node) => kill(stage, topology, node, asker),
        Change::Revive(node) => topology.change(|view| revive(view, node)),
        Change::Keep(node) => topology.change(|view| keep(view, node)),
        Change::CatchUp(node) => catch_up(topology, node),
    };
    for engine in stage.engines() {
        // It looks for what is new by itself.
        engine.with(|_, _| ());
    }
    match done {
        Ok(()) => Outcome::Ok,
        Err(reason) => Outcome::Failed(reason),
    }
}

fn give(topology: &Topology, slot: u16, to: NodeIndex) -> Result<(), String> {
    let view = topology.view();
    takes_slots(&view, slot, to)?;
    if let Some((from, to)) = on_its_way(&view, slot) {
        return Err(format!(
            "slot {slot} is on its way from {} to {}; TD CLUSTER MIGRATE {slot} END or CANCEL ends that",
            name(from),
            name(to)
        ));
    }
    hand(topology, slot, view.owner_of(slot), to)
}

/// Gives a slot with its keys to a node, which may take it.
fn hand(
    topology: &Topology,
    slot: u16,
    from: Option<NodeIndex>,
    to: NodeIndex,
) -> Result<(), String> {
    if !move_slot(topology, slot, from, to) {
        return Err(format!("slot {slot} went elsewhere meanwhile"));
    }
    topology.change(|view| {
        view.node_mut(to).importing.remove(&slot);
        view.bump_epoch(to);
    });
    Ok(())
}

fn begin(view: &mut View, slot: u16, to: NodeIndex) -> Result<(), String> {
    takes_slots(view, slot, to)?;
    if let Some((from, to)) = on_its_way(view, slot) {
        let (from, to) = (name(from), name(to));
        return Err(format!(
            "slot {slot} is on its way from {from} to {to} already"
        ));
    }
    let from = view.owner_of(slot);
    let from = from
        .ok_or_else(|| format!("slot {slot} is with no node; TD CLUSTER MOVE gives it to one"))?;
    view.node_mut(from).migrating.insert(slot, to);
    view.node_mut(to).importing.insert(slot, from);
    Ok(())
}

fn end(topology: &Topology, slot: u16) -> Result<(), String> {
    let view = topology.view();
    let (from, to) = on_its_way(&view, slot).ok_or_else(|| stays(&view, slot))?;
    hand(topology, slot, Some(from), to)
}

fn cancel(topology: &Topology, slot: u16) -> Result<(), String> {
    let (from, to) = topology.change(|view| {
        let (from, to) = on_its_way(view, slot).ok_or_else(|| stays(view, slot))?;
        view.node_mut(from).migrating.remove(&slot);
        view.node_mut(to).importing.remove(&slot);
        Ok::<_, String>((from, to))
    })?;
    return_slot(topology, slot, to, from);
    Ok(())
}

fn fail_over(view: &mut View, node: NodeIndex) -> Result<(), String> {
    let is_up = |node: &NodeIndex| !view.is_down(*node);
    let replica = match view.node(node).replica_of {
        Some(_) => Some(node).filter(is_up).ok_or_else(|| is_down(node))?,
        None => {
            let none = || format!("{} is a primary, and no replica of it is up", name(node));
            view.replicas_of(node).find(is_up).ok_or_else(none)?
        }
    };
    view.promote(replica);
    Ok(())
}

fn kill(stage: &Stage, topology: &Topology, node: NodeIndex, asker: Asker) -> Result<(), String> {
    let engine = topology.engine_of(node);
    let engine = engine.ok_or_else(|| is_elsewhere(node))?;
    engine.with(|state, _| {
        // No client hears of this before its connection ends.
        topology.change(|view| match view.is_down(node) {
            true => Err(format!("{} is down already", name(node))),
            false => {
                view.take_down(node, asker.now_ms);
                Ok(())
            }
        })?;
        close(state, node, asker);
        Ok::<_, String>(())
    })?;
    // A client may have been on its way to or from another engine.
    for engine in stage.engines() {
        engine.with(|state, _| close(state, node, asker));
    }
    Ok(())
}

/// Closes all connections to a node but the asker's.
fn close(state: &mut State, node: NodeIndex, asker: Asker) {
    let clients = state.clients.iter().filter(|client| client.face == node);
    let others = clients.filter(|client| client.id.number != asker.number);
    let others: Vec<ClientId> = others.map(|client| client.id).collect();
    others.into_iter().for_each(|id| state.kill(id));
}

fn revive(view: &mut View, node: NodeIndex) -> Result<(), String> {
    if !view.is_down(node) {
        let others = names(view.all_down());
        return Err(format!("{} is up; down: {others}", name(node)));
    }
    view.bring_back(node);
    Ok(())
}

fn keep(view: &mut View, node: NodeIndex) -> Result<(), String> {
    if view.node(node).engine.is_none() {
        return Err(is_elsewhere(node));
    }
    if view.outdated(node).is_some() {
        let name = name(node);
        return Err(format!(
            "{name} is stale already; TD CLUSTER STALE {} OFF ends that",
            node.place()
        ));
    }
    view.keep_outdated(node);
    Ok(())
}

fn catch_up(topology: &Topology, node: NodeIndex) -> Result<(), String> {
    let lost = topology.change(|view| {
        if view.outdated(node).is_none() {
            let others = names(view.all_outdated());
            return Err(format!("{} is not stale; stale: {others}", name(node)));
        }
        Ok(view.catch_up(node))
    })?;
    if let Some(engine) = topology.engine_of(node) {
        engine.with(|state, _| {
            for slot in lost {
                // What it took on for a slot of others is lost, as in any cluster.
                state
                    .store
                    .remove_slot(slot, tailrace_storage::Event::MovedAway);
            }
        });
    }
    Ok(())
}

/// Whether a node may be given a slot that is not its own.
fn takes_slots(view: &View, slot: u16, to: NodeIndex) -> Result<(), String> {
    if view.owner_of(slot) == Some(to) {
        return Err(format!("slot {slot} is already with {}", name(to)));
    }
    if let Some(primary) = view.node(to).replica_of {
        let (to, primary) = (name(to), name(primary));
        return Err(format!(
            "{to} is a replica of {primary}, which a slot could go to"
        ));
    }
    let owner = view.owner_of(slot);
    for node in owner.into_iter().chain([to]) {
        if view.node(node).engine.is_none() {
            return Err(is_elsewhere(node));
        }
    }
    match view.is_down(to) {
        true => Err(is_down(to)),
        false => Ok(()),
    }
}

/// Between which nodes a slot is on its way.
fn on_its_way(view: &View, slot: u16) -> Option<(NodeIndex, NodeIndex)> {
    let from = view.owner_of(slot)?;
    let to = view.node(from).migrating.get(&slot)?;
    Some((from, *to))
}

fn stays(view: &View, slot: u16) -> String {
    match view.owner_of(slot) {
        Some(owner) => format!("slot {slot} is with {} and not on its way", name(owner)),
        None => format!("slot {slot} is with no node"),
    }
}

fn is_elsewhere(node: NodeIndex) -> String {
    format!("{} is in another process", name(node))
}

fn is_down(node: NodeIndex) -> String {
    let (name, place) = (name(node), node.place());
    format!("{name} is down; TD CLUSTER REVIVE {place} brings it back")
}

fn name(node: NodeIndex) -> String {
    format!("node {}", node.place())
}

fn names(nodes: impl Iterator<Item = NodeIndex>) -> String {
    let names: Vec<String> = nodes.map(name).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

/// The node of this number, or of this id.
pub(crate) fn find(view: &View, text: &[u8]) -> Option<NodeIndex> {
    let number = tailrace_protocol::number::parse_i64(text);
    let place = number.and_then(|number| usize::try_from(number).ok());
    let by_id = || {
        view.nodes
            .iter()
            .position(|node| node.id.as_bytes() == text)
    };
    let place = place
        .filter(|place| *place < view.nodes.len())
        .or_else(by_id);
    place.map(NodeIndex::new)
}

impl State {
    /// Host and port of the node that a test names by its number or id, for an error that sends a client there.
    pub(crate) fn place_of_named(&self, id: ClientId, text: &[u8]) -> Option<String> {
        let (cluster, client) = (self.cluster.as_ref()?, self.clients.get(id)?);
        let node = find(cluster.view(), text)?;
        Some(self.place_of(client, node))
    }

    /// Why a command may not run since the node is down, if it is: the connection that took it down is left.
    pub(crate) fn refused_by_death(&self, id: ClientId) -> Option<String> {
        let (cluster, client) = (self.cluster.as_ref()?, self.clients.get(id)?);
        let is_dead = cluster.view().is_down(client.face);
        is_dead.then(|| format!("ERR {}", is_down(client.face)))
    }

    /// Gives slots and roles back to who had them then.
    pub(crate) fn go_back_in_cluster(&mut self, view: &Arc<View>) {
        if let Some(cluster) = &mut self.cluster
            && !Arc::ptr_eq(&cluster.topology().view(), view)
        {
            cluster.change(|now| now.go_back_to(view));
        }
    }

    /// Makes the cluster what it was at the start, with all nodes well.
    pub(crate) fn begin_cluster(&mut self) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let first = Arc::clone(cluster.topology().first());
        if !Arc::ptr_eq(&cluster.topology().view(), &first) {
            cluster.change(|now| {
                now.go_back_to(&first);
                now.heal();
            });
        }
    }
}
