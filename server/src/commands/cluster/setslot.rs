//! `CLUSTER SETSLOT slot MIGRATING id|IMPORTING id|NODE id|STABLE [TIMEOUT ms]`
//!
//! Moves a slot from node to node: the one that has it is told `MIGRATING`, the other one `IMPORTING`, then `MIGRATE`
//! moves its keys, then both are told whose it is.
//!
//! Behaviour worth knowing:
//! - While a slot moves, keys that are there are served where they are, and for others a client is sent on with `ASK`.
//! - All nodes of this process know at once whose a slot is. A primary that has lost its last slot becomes a replica of the
//!   node that has it now, unless `cluster-allow-replica-migration` is off.

use tailrace_protocol::ReplyWriter;

use super::REPLICATED;
use super::of;
use super::seat;
use super::seat::Seat;
use super::seat::change;
use super::slot;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::cluster::NodeIndex;
use crate::cluster::View;
use crate::commands::timeout_args::Timeout;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|setslot",
    arity: -4,
    syntax: "slot:integer subcommand(IMPORTING importing<node-id> | \
             MIGRATING migrating<node-id> | NODE node<node-id> | STABLE) \
             [TIMEOUT timeout:integer@8.0.0]",
    flags: REPLICATED,
    summary: "Says which node a slot belongs to, or is on its way to.",
    since: "3.0.0",
    history: &[("8.0.0", "Takes a `TIMEOUT`.")],
    ..of(run)
};

/// What is to become of a slot.
#[derive(Clone, Copy)]
enum Action {
    Migrating(NodeIndex),
    Importing(NodeIndex),
    Stable,
    Node(NodeIndex),
}

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    if seat.is_replica() {
        return Err(ClusterError::SetSlotOnReplica.into());
    }
    let slot = slot(args.bytes()?)?;
    let action = parse(call, &seat, slot, &mut args)?;
    while !args.is_empty() {
        let is_timeout = args.keyword("timeout");
        if is_timeout && args.is_empty() {
            return Err(ClusterError::MissingTimeout.into());
        }
        if is_timeout {
            Timeout::parse(args.peek().unwrap_or_default(), call)?;
        } else {
            args.bytes()?;
        }
    }
    let is_empty = call.store().slot_len_of_all(slot) == 0;
    let follows = call.state.config.settings().cluster.follows_last_slot;
    change(call, |view| {
        apply(view, seat.face, slot, action, is_empty);
        match action {
            Action::Node(node) if follows => view.give_and_follow(slot, node),
            Action::Node(node) => view.give(slot, node),
            _ => {}
        }
    });
    reply.ok();
    Ok(Flow::Done)
}

fn parse(
    call: &mut Call<'_>,
    seat: &Seat,
    slot: u16,
    args: &mut Args<'_>,
) -> Result<Action, ClusterError> {
    let owner = seat.owner(seat.face, slot);
    let is_mine = owner == Some(seat.face);
    if args.keyword_with("migrating", 1) {
        if !is_mine {
            return Err(ClusterError::NotTheOwner(slot));
        }
        return peer(seat, args).map(Action::Migrating);
    }
    if args.keyword_with("importing", 1) {
        if is_mine {
            return Err(ClusterError::AlreadyTheOwner(slot));
        }
        return peer(seat, args).map(Action::Importing);
    }
    if args.keyword("stable") {
        return Ok(Action::Stable);
    }
    if args.keyword_with("node", 1) {
        let node = seat.look_up(args.next().unwrap_or_default())?;
        if seat.node(node).replica_of.is_some() {
            return Err(ClusterError::TargetNotAPrimary);
        }
        if is_mine && node != seat.face && call.store().slot_len_of_all(slot) > 0 {
            return Err(ClusterError::HoldsKeys(slot));
        }
        return Ok(Action::Node(node));
    }
    Err(ClusterError::SetSlotAction)
}

/// The other node of a move.
fn peer(seat: &Seat, args: &mut Args<'_>) -> Result<NodeIndex, ClusterError> {
    let id = args.next().unwrap_or_default();
    let node = seat.find(seat.face, id);
    let node = node.ok_or_else(|| ClusterError::UnknownPeer(id.to_vec()))?;
    if node == seat.face {
        return Err(ClusterError::TargetIsMyself);
    }
    if seat.node(node).replica_of.is_some() {
        return Err(ClusterError::TargetNotAPrimary);
    }
    Ok(node)
}

/// Carries it out on the node `face`, which has keys in the slot unless `is_empty`.
fn apply(view: &mut View, face: NodeIndex, slot: u16, action: Action, is_empty: bool) {
    let own = view.node_mut(face);
    match action {
        Action::Migrating(to) => drop(own.migrating.insert(slot, to)),
        Action::Importing(from) => drop(own.importing.insert(slot, from)),
        Action::Stable => {
            own.migrating.remove(&slot);
            own.importing.remove(&slot);
        }
        Action::Node(node) => {
            if is_empty {
                own.migrating.remove(&slot);
            }
            let was_importing = node == face && own.importing.remove(&slot).is_some();
            if was_importing {
                view.bump_epoch(face);
            }
        }
    }
}
