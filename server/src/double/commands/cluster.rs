//! `TESTDOUBLE CLUSTER MOVE | MIGRATE | FAILOVER | KILL | REVIVE | STALE ...`
//!
//! Changes the cluster that the double is, at once for all of its nodes.
//!
//! Behaviour worth knowing:
//! - A node is named by its number, from 0 in the order of the first line that the server said, or by its id; a slot by its
//!   number, or by a key in it. `{7}` is a key that has digits only.
//! - MOVE takes the keys along, and what the ledger knows of them. MIGRATE opens a slot as `CLUSTER SETSLOT` does, so that
//!   clients meet ASK and TRYAGAIN; END takes all its keys to the new node, CANCEL all back to the old one.
//! - KILL closes all connections to a node but the caller's, which is told that the node is down by everything but TESTDOUBLE.
//!   No replica takes over before FAILOVER. What the node had, REVIVE brings back.
//! - STALE lets a node take for its own what it had, and serve it with what it has. What it took on meanwhile for slots of others is
//!   lost when that ends.
//! - RESET undoes all of this; SNAPSHOT RESTORE gives back slots and roles.

use std::sync::Arc;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::SLOT_COUNT;
use tailrace_storage::key_slot;

use super::FLAGS;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::cluster::NodeIndex;
use crate::double::cluster;
use crate::double::cluster::Asker;
use crate::double::cluster::Change;
use crate::double::nodes;
use crate::double::stage::Stage;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|cluster",
    arity: -3,
    syntax: "action [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Changes the cluster that a test holds.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let change = parse(call, &mut args)?;
    args.end()?;
    super::refuse_amid_script(call)?;
    let topology = match &call.state.cluster {
        Some(cluster) => cluster.shared_topology(),
        None => return Err(fail(NO_CLUSTER)),
    };
    let asker = Asker {
        number: call.id.number,
        now_ms: call.now.unix().0,
    };
    Ok(nodes::beside(call, async move |stage: Arc<Stage>| {
        cluster::apply(&stage, &topology, change, asker)
    }))
}

fn parse(call: &Call<'_>, args: &mut Args<'_>) -> Result<Change, CommandError> {
    let action = args.bytes()?;
    let change = match action.to_ascii_lowercase().as_slice() {
        b"move" => Change::Move(slot(args)?, node(call, args)?),
        b"migrate" => {
            let slot = slot(args)?;
            match () {
                () if args.keyword("end") => Change::End(slot),
                () if args.keyword("cancel") => Change::Cancel(slot),
                () => Change::Begin(slot, node(call, args)?),
            }
        }
        b"failover" => Change::FailOver(node(call, args)?),
        b"kill" => Change::Kill(node(call, args)?),
        b"revive" => Change::Revive(node(call, args)?),
        b"stale" => {
            let node = node(call, args)?;
            match args.keyword("off") {
                true => Change::CatchUp(node),
                false => Change::Keep(node),
            }
        }
        _ => return Err(syntax::unknown("CLUSTER", action, "TD CLUSTER HELP")),
    };
    Ok(change)
}

/// Reads a slot, or a key in it.
fn slot(args: &mut Args<'_>) -> Result<u16, CommandError> {
    let text = args.bytes()?;
    let Some(number) = tailrace_protocol::number::parse_i64(text) else {
        return Ok(key_slot(text));
    };
    let slot = u16::try_from(number).ok().filter(|slot| *slot < SLOT_COUNT);
    slot.ok_or_else(|| {
        let last = SLOT_COUNT - 1;
        fail(format!(
            "there is no slot {number}; the last is {last}, and a key of digits is written {{{number}}} here"
        ))
    })
}

/// Reads a node of this cluster.
fn node(call: &Call<'_>, args: &mut Args<'_>) -> Result<NodeIndex, CommandError> {
    let text = args.bytes()?;
    let cluster = call.state.cluster.as_ref();
    let view = cluster.ok_or_else(|| fail(NO_CLUSTER))?.view();
    cluster::find(view, text).ok_or_else(|| {
        let text = String::from_utf8_lossy(text);
        fail(match view.nodes.len() - 1 {
            0 => format!("there is no node '{text}'; the only one is 0"),
            last => format!("there is no node '{text}'; nodes are 0 to {last}, or have an id"),
        })
    })
}

/// Why nothing happens to what is no cluster.
pub(crate) const NO_CLUSTER: &str =
    "this is no cluster; start one with --nodes 3, or a space with TD SPACE NEW NODES 3";

pub(super) const HELP: &[&str] = &[
    "CLUSTER MOVE <slot>|<key> <node>",
    "    A slot with its keys belongs to a node, at once for everybody. Nodes count from 0, or go by their ids.",
    "CLUSTER MIGRATE <slot>|<key> <node>|END|CANCEL",
    "    A slot is on its way to a node: clients meet ASK and TRYAGAIN. END takes all its keys there, CANCEL all back.",
    "CLUSTER FAILOVER <node>",
    "    A replica takes its primary's place; of a primary, its first replica does.",
    "CLUSTER KILL <node> | REVIVE <node>",
    "    A node is down: its connections end but for this one, it takes no others, and others show it as failed. No",
    "    replica takes over by itself. It comes back with its data.",
    "CLUSTER STALE <node> [OFF]",
    "    A node goes on with what it knows of the cluster, so that it sends clients to the wrong nodes.",
];
