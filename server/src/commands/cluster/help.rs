//! `CLUSTER HELP`

use tailrace_protocol::ReplyWriter;

use super::READING;
use super::of;
use super::seat;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::commands::encode;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|help",
    arity: 2,
    flags: READING,
    summary: "Lists the subcommands.",
    since: "5.0.0",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    encode::help(reply, "CLUSTER", LINES);
    Ok(Flow::Done)
}

const LINES: &[(&str, &str)] = &[
    (
        "COUNTKEYSINSLOT <slot>",
        "How many keys of a slot this node has.",
    ),
    (
        "GETKEYSINSLOT <slot> <count>",
        "Keys of a slot that this node has.",
    ),
    ("INFO", "The state of the cluster."),
    ("KEYSLOT <key>", "The slot of a key."),
    ("MYID", "The id of this node."),
    ("MYSHARDID", "The id of this node's shard."),
    (
        "NODES",
        "The nodes, one line each: id, address, flags, primary, times, epoch, link, slots.",
    ),
    (
        "REPLICAS <node-id>",
        "The replicas of a node, one line each.",
    ),
    ("SLOTS", "Ranges of slots, and the nodes that serve each."),
    (
        "SLOT-STATS",
        "How many keys the slots of this node have, and what they cost.",
    ),
    ("SHARDS", "The shards: their slots and nodes."),
    ("ADDSLOTS <slot> [<slot> ...]", "Let this node serve slots."),
    (
        "ADDSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
        "Let this node serve ranges of slots.",
    ),
    ("BUMPEPOCH", "Give this node the greatest epoch."),
    (
        "COUNT-FAILURE-REPORTS <node-id>",
        "How many nodes take a node for failed.",
    ),
    ("DELSLOTS <slot> [<slot> ...]", "Let nobody serve slots."),
    (
        "DELSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
        "Let nobody serve ranges of slots.",
    ),
    (
        "FAILOVER [FORCE|TAKEOVER]",
        "Let this replica and its primary change places.",
    ),
    ("FORGET <node-id>", "Put a node out of the cluster."),
    (
        "FLUSHSLOT <slot> [ASYNC|SYNC]",
        "Delete the keys of a slot that this node has.",
    ),
    ("FLUSHSLOTS", "Let nobody serve the slots of this node."),
    (
        "MEET <ip> <port> [<bus-port>]",
        "Bring a node into the cluster.",
    ),
    ("REPLICATE <node-id>", "Make this node a replica."),
    ("RESET [HARD|SOFT]", "Take this node out of the cluster."),
    (
        "SET-CONFIG-EPOCH <epoch>",
        "Set the epoch of a node that is alone.",
    ),
    (
        "SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)",
        "Move a slot, or say whose it is.",
    ),
    ("SAVECONFIG", "Does nothing: the cluster is not on disk."),
    ("LINKS", "The links between nodes, of which there are none."),
    (
        "GETSLOTMIGRATIONS",
        "The slots that move in the background.",
    ),
    (
        "MIGRATESLOTS SLOTSRANGE <start slot> <end slot> [...] NODE <node-id> [...]",
        "Move slots of this node to others in the background.",
    ),
    (
        "CANCELSLOTMIGRATIONS",
        "Stop moving slots of this node in the background.",
    ),
];
