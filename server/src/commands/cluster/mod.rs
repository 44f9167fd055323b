//! `CLUSTER`: nodes and slots.
//!
//! This server is no part of a cluster. It tells the slot of a key; whatever else is asked, it says
//! that there is no cluster, as the reference does without cluster mode, even for `HELP`.

mod keyslot;
mod nodes;
mod slots;

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Cluster,
    summary: "Tells of the cluster, and changes it.",
    since: "3.0.0",
    ..Spec::container(
        "cluster",
        &[
            &keyslot::SPEC,
            &nodes::BUMPEPOCH,
            &nodes::COUNT_FAILURE_REPORTS,
            &nodes::FAILOVER,
            &nodes::FORGET,
            &nodes::HELP,
            &nodes::INFO,
            &nodes::LINKS,
            &nodes::MEET,
            &nodes::MYID,
            &nodes::MYSHARDID,
            &nodes::NODES,
            &nodes::REPLICAS,
            &nodes::REPLICATE,
            &nodes::RESET,
            &nodes::SAVECONFIG,
            &nodes::SET_CONFIG_EPOCH,
            &nodes::SHARDS,
            &nodes::SLAVES,
            &slots::ADDSLOTS,
            &slots::ADDSLOTSRANGE,
            &slots::CANCELSLOTMIGRATIONS,
            &slots::COUNTKEYSINSLOT,
            &slots::DELSLOTS,
            &slots::DELSLOTSRANGE,
            &slots::FLUSHSLOT,
            &slots::FLUSHSLOTS,
            &slots::GETKEYSINSLOT,
            &slots::GETSLOTMIGRATIONS,
            &slots::MIGRATESLOTS,
            &slots::SETSLOT,
            &slots::SLOTS,
            &slots::SLOT_STATS,
            &slots::SYNCSLOTS,
        ],
    )
};

/// What the subcommands have in common that only make sense in a cluster.
const NO_CLUSTER: Spec = Spec {
    group: Group::Cluster,
    ..Spec::of(refuse)
};

/// The flags of those that change the cluster.
const CHANGING: Flags = Flags::ADMIN.and(Flags::STALE).and(Flags::NO_ASYNC_LOADING);
/// The flags of those that clients ask to find their way.
const READING: Flags = Flags::LOADING.and(Flags::STALE);
/// The hint for those that answer differently each time.
const UNSTEADY: &[&str] = &["nondeterministic_output"];

fn refuse(_: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    Err(ServerError::NoCluster.into())
}
