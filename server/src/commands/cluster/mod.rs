//! `CLUSTER`: nodes and slots.
//!
//! A server that is no part of a cluster tells the slot of a key; whatever else is asked, it says that there is no
//! cluster, as the reference does, even for `HELP`.

mod assign;
mod epochs;
mod help;
mod info;
mod keys;
mod keyslot;
mod members;
mod migrations;
mod nodes;
mod seat;
mod setslot;
mod shards;
mod slot_stats;
mod slots;

pub(super) use self::info::text as info_text;
use self::seat::Seat;
use crate::call::Call;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Handler;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Cluster,
    summary: "Tells of the cluster, and changes it.",
    since: "3.0.0",
    ..Spec::container(
        "cluster",
        &[
            &assign::ADDSLOTS,
            &assign::ADDSLOTSRANGE,
            &assign::DELSLOTS,
            &assign::DELSLOTSRANGE,
            &assign::FLUSHSLOTS,
            &epochs::BUMPEPOCH,
            &epochs::SAVECONFIG,
            &epochs::SET_CONFIG_EPOCH,
            &help::SPEC,
            &info::SPEC,
            &keys::COUNTKEYSINSLOT,
            &keys::FLUSHSLOT,
            &keys::GETKEYSINSLOT,
            &keyslot::SPEC,
            &members::FAILOVER,
            &members::FORGET,
            &members::MEET,
            &members::REPLICATE,
            &members::RESET,
            &migrations::CANCELSLOTMIGRATIONS,
            &migrations::GETSLOTMIGRATIONS,
            &migrations::MIGRATESLOTS,
            &migrations::SYNCSLOTS,
            &nodes::COUNT_FAILURE_REPORTS,
            &nodes::LINKS,
            &nodes::MYID,
            &nodes::MYSHARDID,
            &nodes::NODES,
            &nodes::REPLICAS,
            &nodes::SLAVES,
            &setslot::SPEC,
            &shards::SPEC,
            &slot_stats::SPEC,
            &slots::SPEC,
        ],
    )
};

/// What the subcommands have in common.
const fn of(run: Handler) -> Spec {
    Spec {
        group: Group::Cluster,
        ..Spec::of(run)
    }
}

/// The flags of those that change the cluster.
const CHANGING: Flags = Flags::ADMIN.and(Flags::STALE).and(Flags::NO_ASYNC_LOADING);
/// The flags of those that operators ask.
const ADMIN: Flags = Flags::ADMIN.and(Flags::STALE);
/// The flags of those that clients ask to find their way.
const READING: Flags = Flags::LOADING.and(Flags::STALE);
/// The flags of those that replicas are told.
const REPLICATED: Flags = CHANGING.and(Flags::MAY_REPLICATE);
/// The hint for those that answer differently each time.
const UNSTEADY: &[&str] = &["nondeterministic_output"];

/// Reads the number of a slot.
pub(super) fn slot(text: &[u8]) -> Result<u16, ClusterError> {
    let number = tailrace_protocol::number::parse_i64(text);
    let number = number.and_then(|number| u16::try_from(number).ok());
    let slot = number.filter(|slot| *slot < tailrace_storage::SLOT_COUNT);
    slot.ok_or(ClusterError::Slot)
}

/// Whether the caller's node has no key in any database.
fn has_no_keys(call: &mut Call<'_>) -> bool {
    let store = call.store();
    (0..store.databases()).all(|db| store.db_len(db) == 0)
}

/// Where the caller sits in the cluster, if there is one.
fn seat(call: &Call<'_>) -> Result<Seat, CommandError> {
    Seat::of(call)
}
