//! `CLUSTER ADDSLOTS`, `DELSLOTS`, `SETSLOT`, `SLOTS` and the others about slots.
//!
//! There are none without a cluster, and each says so.

use super::CHANGING;
use super::NO_CLUSTER;
use super::READING;
use super::UNSTEADY;
use crate::spec::Acl;
use crate::spec::Audience;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const ADDSLOTS: Spec = Spec {
    name: "cluster|addslots",
    arity: -3,
    syntax: "slot:integer...",
    flags: CHANGING,
    summary: "Gives slots to this node.",
    since: "3.0.0",
    complexity: "O(N), N being the number of slots.",
    ..NO_CLUSTER
};

pub(super) const ADDSLOTSRANGE: Spec = Spec {
    name: "cluster|addslotsrange",
    arity: -4,
    syntax: "range(start-slot:integer end-slot:integer)...",
    flags: CHANGING,
    summary: "Gives ranges of slots to this node.",
    since: "7.0.0",
    complexity: "O(N), N being the number of slots.",
    ..NO_CLUSTER
};

pub(super) const CANCELSLOTMIGRATIONS: Spec = Spec {
    name: "cluster|cancelslotmigrations",
    arity: 2,
    flags: CHANGING,
    summary: "Stops all migrations of slots.",
    since: "9.0.0",
    complexity: "O(N), N being the number of migrations.",
    ..NO_CLUSTER
};

pub(super) const COUNTKEYSINSLOT: Spec = Spec {
    name: "cluster|countkeysinslot",
    arity: 3,
    syntax: "slot:integer",
    flags: Flags::STALE,
    summary: "Counts the keys of a slot.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const DELSLOTS: Spec = Spec {
    name: "cluster|delslots",
    arity: -3,
    syntax: "slot:integer...",
    flags: CHANGING,
    summary: "Takes slots from this node.",
    since: "3.0.0",
    complexity: "O(N), N being the number of slots.",
    ..NO_CLUSTER
};

pub(super) const DELSLOTSRANGE: Spec = Spec {
    name: "cluster|delslotsrange",
    arity: -4,
    syntax: "range(start-slot:integer end-slot:integer)...",
    flags: CHANGING,
    summary: "Takes ranges of slots from this node.",
    since: "7.0.0",
    complexity: "O(N), N being the number of slots.",
    ..NO_CLUSTER
};

pub(super) const FLUSHSLOT: Spec = Spec {
    name: "cluster|flushslot",
    arity: -3,
    syntax: "slot:integer [flush-type(ASYNC|SYNC)]",
    flags: FLUSH,
    acl: Acl::KEYSPACE,
    summary: "Deletes the keys of a slot.",
    since: "9.0.0",
    complexity: "O(N), N being the number of keys in the slot.",
    ..NO_CLUSTER
};

pub(super) const FLUSHSLOTS: Spec = Spec {
    name: "cluster|flushslots",
    arity: 2,
    flags: CHANGING,
    summary: "Takes all slots from this node.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const GETKEYSINSLOT: Spec = Spec {
    name: "cluster|getkeysinslot",
    arity: 4,
    syntax: "slot:integer count:integer",
    flags: Flags::STALE,
    tips: UNSTEADY,
    summary: "Lists keys of a slot.",
    since: "3.0.0",
    complexity: "O(N), N being the number of keys asked for.",
    ..NO_CLUSTER
};

pub(super) const GETSLOTMIGRATIONS: Spec = Spec {
    name: "cluster|getslotmigrations",
    arity: 2,
    flags: CHANGING,
    summary: "Tells of the migrations of slots.",
    since: "9.0.0",
    complexity: "O(N), N being the number of migrations.",
    ..NO_CLUSTER
};

pub(super) const MIGRATESLOTS: Spec = Spec {
    name: "cluster|migrateslots",
    arity: -4,
    syntax: "migration-group(slotsrange-token:'SLOTSRANGE' range(start-slot:integer \
             end-slot:integer)... node-token:'NODE' node-id)...",
    flags: CHANGING,
    summary: "Moves slots to other nodes.",
    since: "9.0.0",
    complexity: "O(N), N being the number of slots.",
    ..NO_CLUSTER
};

pub(super) const SETSLOT: Spec = Spec {
    name: "cluster|setslot",
    arity: -4,
    syntax: "slot:integer subcommand(IMPORTING importing<node-id> | \
             MIGRATING migrating<node-id> | NODE node<node-id> | STABLE) \
             [TIMEOUT timeout:integer@8.0.0]",
    flags: REPLICATED,
    summary: "Says which node a slot belongs to, or is on its way to.",
    since: "3.0.0",
    history: &[("8.0.0", "Takes a `TIMEOUT`.")],
    ..NO_CLUSTER
};

pub(super) const SLOT_STATS: Spec = Spec {
    name: "cluster|slot-stats",
    arity: -4,
    syntax: "filter(SLOTSRANGE slotsrange(start-slot:integer end-slot:integer) | \
             ORDERBY orderby(metric [LIMIT limit:integer] [order(ASC|DESC)]))",
    flags: READING,
    tips: &["nondeterministic_output", "request_policy:all_shards"],
    summary: "Tells how the slots of this node are used.",
    since: "8.0.0",
    complexity: "O(N), N being the number of slots; O(N log N) if they are ordered.",
    ..NO_CLUSTER
};

pub(super) const SLOTS: Spec = Spec {
    name: "cluster|slots",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells which nodes serve which slots.",
    since: "3.0.0",
    history: &[
        ("4.0.0", "Shows the IDs of nodes."),
        ("7.0.0", "Shows where else nodes can be reached."),
        ("9.1.0", "Shows there the `availability-zone` too."),
    ],
    complexity: "O(N), N being the number of nodes.",
    ..NO_CLUSTER
};

pub(super) const SYNCSLOTS: Spec = Spec {
    name: "cluster|syncslots",
    arity: -3,
    flags: REPLICATED,
    summary: "Carries out the migration of slots between nodes.",
    since: "9.0.0",
    complexity: "Depends on subcommand.",
    audience: Audience::System,
    ..NO_CLUSTER
};

const FLUSH: Flags = Flags::WRITE.and(Flags::ADMIN).and(Flags::NO_ASYNC_LOADING);
const REPLICATED: Flags = CHANGING.and(Flags::MAY_REPLICATE);
