//! `CLUSTER COUNTKEYSINSLOT slot`, `GETKEYSINSLOT slot count`, `FLUSHSLOT slot [ASYNC|SYNC]`
//!
//! The keys of a slot on the caller's node: in its database, or to be deleted in all of them.

use tailrace_protocol::ReplyWriter;

use tailrace_storage::Event;
use tailrace_storage::SLOT_COUNT;

use super::UNSTEADY;
use super::of;
use super::seat;
use super::slot;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const COUNTKEYSINSLOT: Spec = Spec {
    name: "cluster|countkeysinslot",
    arity: 3,
    syntax: "slot:integer",
    flags: Flags::STALE,
    summary: "Counts the keys of a slot.",
    since: "3.0.0",
    ..of(count)
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
    ..of(list)
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
    ..of(flush)
};

const FLUSH: Flags = Flags::WRITE.and(Flags::ADMIN).and(Flags::NO_ASYNC_LOADING);

fn count(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    let slot = in_range(args.integer()?).ok_or(ClusterError::CountedSlot)?;

    let db = call.db;
    let count = call.store().slot_len(db, slot);

    reply.unsigned(count as u64);
    Ok(Flow::Done)
}

fn list(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    let (slot, count) = (args.integer()?, args.integer()?);
    let slot = in_range(slot).ok_or(ClusterError::SlotOrCount)?;
    let count = usize::try_from(count).map_err(|_| ClusterError::SlotOrCount)?;

    let db = call.db;
    let store = call.store();
    let count = count.min(store.slot_len(db, slot));
    reply.array(count);
    let keys = store.keys_of_slot(db, slot).take(count);
    keys.for_each(|key| reply.bulk(key));
    Ok(Flow::Done)
}

fn flush(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    let slot = slot(args.bytes()?)?;
    if !args.is_empty() && !args.keyword("async") && !args.keyword("sync") {
        return Err(CommandError::Syntax);
    }
    if !args.is_empty() {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }

    call.store().remove_slot(slot, Event::Del);

    reply.ok();
    Ok(Flow::Done)
}

fn in_range(number: i64) -> Option<u16> {
    let slot = u16::try_from(number).ok();
    slot.filter(|slot| *slot < SLOT_COUNT)
}
