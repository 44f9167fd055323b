//! `CLUSTER INFO`, `NODES`, `SHARDS`, `MEET`, `FAILOVER` and the others about nodes, also `HELP`.
//!
//! There are none without a cluster, and each says so.

use super::CHANGING;
use super::NO_CLUSTER;
use super::READING;
use super::UNSTEADY;
use crate::spec::Audience;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const BUMPEPOCH: Spec = Spec {
    name: "cluster|bumpepoch",
    arity: 2,
    flags: CHANGING,
    tips: UNSTEADY,
    summary: "Advances the configuration epoch.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const COUNT_FAILURE_REPORTS: Spec = Spec {
    name: "cluster|count-failure-reports",
    arity: 3,
    syntax: "node-id",
    flags: ADMIN,
    tips: UNSTEADY,
    summary: "Counts the nodes that report a node as failing.",
    since: "3.0.0",
    history: &[(
        "9.0.0",
        "Reports on a node that is known to have failed are not taken any more.",
    )],
    complexity: "O(N), N being the number of reports.",
    ..NO_CLUSTER
};

pub(super) const FAILOVER: Spec = Spec {
    name: "cluster|failover",
    arity: -2,
    syntax: "[options(FORCE|TAKEOVER)]",
    flags: CHANGING,
    summary: "Makes this replica the primary.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const FORGET: Spec = Spec {
    name: "cluster|forget",
    arity: 3,
    syntax: "node-id",
    flags: CHANGING,
    summary: "Removes a node from the cluster.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const HELP: Spec = Spec {
    name: "cluster|help",
    arity: 2,
    flags: READING,
    summary: "Lists the subcommands.",
    since: "5.0.0",
    ..NO_CLUSTER
};

pub(super) const INFO: Spec = Spec {
    name: "cluster|info",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells of the state of the cluster.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const LINKS: Spec = Spec {
    name: "cluster|links",
    arity: 2,
    flags: Flags::STALE,
    tips: UNSTEADY,
    summary: "Lists the links between this node and the others.",
    since: "7.0.0",
    complexity: "O(N), N being the number of nodes.",
    ..NO_CLUSTER
};

pub(super) const MEET: Spec = Spec {
    name: "cluster|meet",
    arity: -4,
    syntax: "ip port:integer [cluster-bus-port:integer@4.0.0]",
    flags: CHANGING,
    summary: "Adds a node to the cluster.",
    since: "3.0.0",
    history: &[("4.0.0", "Takes the port of the bus.")],
    ..NO_CLUSTER
};

pub(super) const MYID: Spec = Spec {
    name: "cluster|myid",
    arity: 2,
    flags: READING,
    summary: "Tells this node's ID.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const MYSHARDID: Spec = Spec {
    name: "cluster|myshardid",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells the ID of this node's shard.",
    since: "7.2.0",
    ..NO_CLUSTER
};

pub(super) const NODES: Spec = Spec {
    name: "cluster|nodes",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Describes all nodes as this one sees them.",
    since: "3.0.0",
    complexity: "O(N), N being the number of nodes.",
    ..NO_CLUSTER
};

pub(super) const REPLICAS: Spec = Spec {
    name: "cluster|replicas",
    arity: 3,
    syntax: "node-id",
    flags: ADMIN,
    tips: UNSTEADY,
    summary: "Lists the replicas of a node.",
    since: "5.0.0",
    complexity: "O(N), N being the number of replicas.",
    ..NO_CLUSTER
};

pub(super) const REPLICATE: Spec = Spec {
    name: "cluster|replicate",
    arity: -3,
    syntax: "args(node-id | no-one@9.0.0(NO ONE))",
    flags: CHANGING,
    summary: "Makes this node a replica of another.",
    since: "3.0.0",
    history: &[("9.0.0", "Takes `NO ONE`, which makes a replica a primary.")],
    ..NO_CLUSTER
};

pub(super) const RESET: Spec = Spec {
    name: "cluster|reset",
    arity: -2,
    syntax: "[reset-type(HARD|SOFT)]",
    flags: ADMIN.and(Flags::NOSCRIPT),
    summary: "Takes this node out of the cluster.",
    since: "3.0.0",
    complexity: "O(N), N being the number of nodes.",
    ..NO_CLUSTER
};

pub(super) const SAVECONFIG: Spec = Spec {
    name: "cluster|saveconfig",
    arity: 2,
    flags: CHANGING,
    summary: "Writes the configuration of the cluster to disk.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const SET_CONFIG_EPOCH: Spec = Spec {
    name: "cluster|set-config-epoch",
    arity: 3,
    syntax: "config-epoch:integer",
    flags: CHANGING,
    summary: "Sets the configuration epoch of a new node.",
    since: "3.0.0",
    ..NO_CLUSTER
};

pub(super) const SHARDS: Spec = Spec {
    name: "cluster|shards",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells which shards serve which slots.",
    since: "7.0.0",
    history: &[(
        "9.1.0",
        "Shows the `id` of a shard and the `availability-zone` of a node.",
    )],
    complexity: "O(N), N being the number of nodes.",
    ..NO_CLUSTER
};

pub(super) const SLAVES: Spec = Spec {
    name: "cluster|slaves",
    arity: 3,
    syntax: "node-id",
    flags: ADMIN,
    tips: UNSTEADY,
    summary: "Lists the replicas of a node, by its old name.",
    since: "3.0.0",
    complexity: "O(N), N being the number of replicas.",
    audience: Audience::Old {
        since: "5.0.0",
        replacement: "`CLUSTER REPLICAS`",
    },
    ..NO_CLUSTER
};

const ADMIN: Flags = Flags::ADMIN.and(Flags::STALE);
