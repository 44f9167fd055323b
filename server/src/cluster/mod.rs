//! Being part of a cluster: who serves which slot, and what that means for the clients of a node.
//!
//! A **node** is a face on an engine: a port, an id and a role. A primary has an engine of its own, its replicas are
//! further faces on the same engine. What all nodes of a process know of the cluster is one value, [`Topology`];
//! there is no bus, so a change is known to all of them at once.
//!
//! | file | |
//! | --- | --- |
//! | `view.rs`, `topology.rs` | What is known of the cluster, and how the engines share it |
//! | `impaired.rs` | Nodes that a test takes down, or keeps from learning more |
//! | `membership.rs` | An engine's part in it |
//! | `route.rs` | May a command run here, and if not, where? |
//! | `follow.rs` | What an engine does when the cluster has changed |
//! | `face.rs` | Which clients share a node |
//! | `moving.rs`, `slot_migrations.rs` | Slots that go from one engine to another, and those that were asked to |
//! | `slot_stats.rs` | What each slot costs |
//! | `endpoint.rs` | Where a client is told that a node is |
//! | `file.rs`, `own_nodes.rs` | Clusters of several processes, from a file, and which of its nodes are in this one |
//! | `start.rs` | Starting the nodes of a process |

mod endpoint;
mod face;
mod file;
mod follow;
mod impaired;
mod membership;
mod moving;
mod own_nodes;
mod route;
mod slot_migrations;
mod slot_stats;
mod start;
mod topology;
mod view;

pub use self::file::TopologyError;
pub use self::start::Cluster;
pub use self::topology::Topology;
pub use self::view::Address;
pub use self::view::Node;
pub use self::view::NodeIndex;
pub use self::view::View;

pub(crate) use self::endpoint::Endpoint;
pub(crate) use self::membership::Membership;
pub(crate) use self::moving::move_slot;
pub(crate) use self::moving::return_slot;
pub(crate) use self::slot_migrations::SlotMigration;
pub(crate) use self::slot_migrations::SlotMigrations;
pub(crate) use self::slot_stats::Counted;
pub(crate) use self::slot_stats::SlotCost;
pub(crate) use self::slot_stats::SlotStats;
