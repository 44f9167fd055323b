//! `CLUSTER MIGRATESLOTS ...`, `GETSLOTMIGRATIONS`, `CANCELSLOTMIGRATIONS`, `SYNCSLOTS ...`
//!
//! No slots move in the background: `CLUSTER SETSLOT` and `MIGRATE` move them, as all tools can.

use tailrace_protocol::ReplyWriter;

use super::CHANGING;
use super::REPLICATED;
use super::of;
use super::seat;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
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
    ..of(refuse)
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

fn cancel(call: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    seat(call)?;
    Err(ClusterError::NoMigrations.into())
}

fn list(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    reply.array(0);
    Ok(Flow::Done)
}

fn refuse(call: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    seat(call)?;
    Err(ClusterError::NoSlotMigration.into())
}
