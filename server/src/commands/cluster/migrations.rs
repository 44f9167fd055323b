//! `CLUSTER MIGRATESLOTS SLOTSRANGE first last ... NODE id ...`, `GETSLOTMIGRATIONS`, `CANCELSLOTMIGRATIONS`, `SYNCSLOTS ...`
//!
//! Moves slots to other nodes of this process in the background, and tells how far that is.
//!
//! Behaviour worth knowing:
//! - Slots move one by one, each with its keys at once. A migration that is cancelled leaves those where they are that have moved.
//! - A migration is shown by the node that gives slots away, by the one that gets them, and, without the two, by the replicas
//!   of the latter.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;

use super::CHANGING;
use super::REPLICATED;
use super::of;
use super::seat;
use super::seat::Seat;
use super::slot;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::cluster::NodeIndex;
use crate::cluster::SlotMigration;
use crate::cluster::SlotMigrations;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Audience;
use crate::spec::Spec;

pub(super) const CANCELSLOTMIGRATIONS: Spec = Spec {
    name: "cluster|cancelslotmigrations",
    arity: 2,
    flags: CHANGING,
    summary: "Stops all migrations of slots.",
    since: "9.0.0",
    complexity: "O(N), N being the number of migrations.",
    ..of(cancel)
};

pub(super) const GETSLOTMIGRATIONS: Spec = Spec {
    name: "cluster|getslotmigrations",
    arity: 2,
    flags: CHANGING,
    summary: "Tells of the migrations of slots.",
    since: "9.0.0",
    complexity: "O(N), N being the number of migrations.",
    ..of(list)
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
    ..of(migrate)
};

pub(super) const SYNCSLOTS: Spec = Spec {
    name: "cluster|syncslots",
    arity: -3,
    flags: REPLICATED,
    summary: "Carries out the migration of slots between nodes.",
    since: "9.0.0",
    complexity: "Depends on subcommand.",
    audience: Audience::System,
    ..of(refuse)
};

fn cancel(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let now = seconds(call);
    let are_any = migrations(call).is_some_and(|all| all.cancel(seat.face, now));
    if !are_any {
        return Err(ClusterError::NoMigrations.into());
    }
    reply.ok();
    Ok(Flow::Done)
}

fn migrate(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let own = seat.node(seat.face);
    if seat.is_replica() {
        return Err(ClusterError::MigrationOnReplica.into());
    }
    if !own.importing.is_empty() {
        return Err(ClusterError::MigrationWhileImporting.into());
    }
    if !own.migrating.is_empty() {
        return Err(ClusterError::MigrationWhileMigrating.into());
    }
    let going_on = known(call);
    let mut asked: Vec<SlotMigration> = Vec::new();
    while !args.is_empty() {
        if !args.keyword("slotsrange") {
            return Err(CommandError::Syntax);
        }
        let ranges = ranges(&seat, &mut args)?;
        for slot in ranges.iter().flat_map(|(first, last)| *first..=*last) {
            if seat.owner(seat.face, slot) != Some(seat.face) {
                return Err(ClusterError::ServedElsewhere.into());
            }
            let is_going = |job: &SlotMigration| job.source == seat.face && job.moves(slot);
            if going_on.iter().any(is_going) {
                return Err(ClusterError::MigratesAlready(slot).into());
            }
            if asked.iter().any(|other| other.moves(slot)) {
                return Err(ClusterError::MigrationsOverlap.into());
            }
        }
        let target = target(&seat, &mut args)?;
        let ids = [seat.face, target].map(|node| seat.node(node).id.clone());
        let nodes = [seat.face, target];
        asked.push(SlotMigration::new(ranges, nodes, ids, seconds(call)));
    }
    if let Some(all) = migrations(call) {
        all.ask_for(asked);
    }
    reply.ok();
    Ok(Flow::Done)
}

/// Reads ranges of slots up to something that is no number. One node has to serve all of them.
fn ranges(seat: &Seat, args: &mut Args<'_>) -> Result<Vec<(u16, u16)>, ClusterError> {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    let mut owner = None;
    while let Some(first) = args.peek().filter(|text| parse_i64(text).is_some()) {
        args.next();
        let first = slot(first)?;
        let last = slot(args.next().ok_or(ClusterError::RangeWithoutEnd)?)?;
        if first > last {
            return Err(ClusterError::MigrationRange(first, last));
        }
        for slot in first..=last {
            let serving = seat.owner(seat.face, slot);
            let serving = serving.ok_or(ClusterError::NobodyServes(slot))?;
            if *owner.get_or_insert(serving) != serving {
                return Err(ClusterError::SeveralShards);
            }
        }
        let overlaps = |range: &&(u16, u16)| range.0 <= last && first <= range.1;
        if let Some(other) = ranges.iter().find(overlaps) {
            return Err(ClusterError::RangesOverlap((first, last), *other));
        }
        ranges.push((first, last));
    }
    match ranges.is_empty() {
        true => Err(ClusterError::NoRanges),
        false => Ok(ranges),
    }
}

/// Reads the node that slots are to go to.
fn target(seat: &Seat, args: &mut Args<'_>) -> Result<NodeIndex, CommandError> {
    if !args.keyword_with("node", 1) {
        return Err(CommandError::Syntax);
    }
    let name = args.bytes()?;
    if name.len() != ID_DIGITS {
        return Err(ClusterError::NodeName(name.to_vec()).into());
    }
    let node = seat.find(seat.face, name);
    let node = node.ok_or_else(|| ClusterError::UnknownNodeName(name.to_vec()))?;
    if node == seat.face {
        return Err(ClusterError::MigrationToMyself.into());
    }
    if seat.node(node).engine.is_none() {
        return Err(ClusterError::MigrationElsewhere.into());
    }
    Ok(node)
}

fn list(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let primary = seat.primary_of(seat.face);
    let mut shown = known(call);
    shown.retain(|job| job.source == seat.face || job.target == primary);
    reply.array(shown.len());
    for migration in shown {
        write(&migration, seat.face, reply);
    }
    Ok(Flow::Done)
}

fn write(migration: &SlotMigration, face: NodeIndex, reply: &mut ReplyWriter<'_>) {
    let is_export = migration.source == face;
    let is_replica = !is_export && migration.target != face;
    reply.map(if is_replica { 10 } else { 12 });
    let mut field = |name: &str, value: &str| {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    };
    field("name", &migration.name);
    field("operation", if is_export { "EXPORT" } else { "IMPORT" });
    let ranges = migration.ranges.iter();
    let ranges: Vec<String> = ranges
        .map(|(first, last)| format!("{first}-{last}"))
        .collect();
    field("slot_ranges", &ranges.join(" "));
    if !is_replica {
        let [source, target] = &migration.ids;
        field("target_node", target);
        field("source_node", source);
    }
    for (name, at) in [
        ("create_time", migration.created_at),
        ("last_update_time", migration.updated_at),
        ("last_ack_time", migration.updated_at),
    ] {
        reply.bulk(name.as_bytes());
        reply.unsigned(at);
    }
    for (name, text) in [
        ("state", migration.state.name()),
        ("message", migration.message),
    ] {
        reply.bulk(name.as_bytes());
        reply.bulk(text.as_bytes());
    }
    for name in ["cow_size", "remaining_repl_size"] {
        reply.bulk(name.as_bytes());
        reply.integer(0);
    }
}

fn refuse(call: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    seat(call)?;
    Err(ClusterError::SyncSlots.into())
}

/// The migrations of this process that are remembered.
fn known(call: &Call<'_>) -> Vec<SlotMigration> {
    let kept_max = call
        .state
        .config
        .settings()
        .cluster
        .slot_migrations_kept_max;
    let kept_max = usize::try_from(kept_max).unwrap_or(usize::MAX);
    migrations(call).map_or_else(Vec::new, |all| all.list(kept_max))
}

fn migrations<'a>(call: &'a Call<'_>) -> Option<&'a SlotMigrations> {
    let cluster = call.state.cluster.as_ref();
    cluster.map(|cluster| &cluster.topology().slot_migrations)
}

/// The time in seconds.
fn seconds(call: &Call<'_>) -> u64 {
    call.now.unix().0 / 1_000
}

/// How long the id of a node is.
const ID_DIGITS: usize = 40;
