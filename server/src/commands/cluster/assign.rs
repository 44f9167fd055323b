//! `CLUSTER ADDSLOTS slot ...`, `ADDSLOTSRANGE first last ...`, `DELSLOTS`, `DELSLOTSRANGE`, `FLUSHSLOTS`
//!
//! Lets the caller's node serve slots that nobody serves, or lets nobody serve some, whoever did. Nothing changes
//! if one of them is wrong.
//!
//! Behaviour worth knowing:
//! - All nodes of this process know at once. In the reference, others go on with what they knew about slots that
//!   were deleted.

use std::collections::BTreeSet;

use tailrace_protocol::ReplyWriter;

use super::CHANGING;
use super::has_no_keys;
use super::of;
use super::seat;
use super::seat::Seat;
use super::seat::change;
use super::slot;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const ADDSLOTS: Spec = Spec {
    name: "cluster|addslots",
    arity: -3,
    syntax: "slot:integer...",
    flags: CHANGING,
    summary: "Gives slots to this node.",
    since: "3.0.0",
    complexity: "O(N), N being the number of slots.",
    ..of(add)
};

pub(super) const ADDSLOTSRANGE: Spec = Spec {
    name: "cluster|addslotsrange",
    arity: -4,
    syntax: "range(start-slot:integer end-slot:integer)...",
    flags: CHANGING,
    summary: "Gives ranges of slots to this node.",
    since: "7.0.0",
    complexity: "O(N), N being the number of slots.",
    ..of(add_ranges)
};

pub(super) const DELSLOTS: Spec = Spec {
    name: "cluster|delslots",
    arity: -3,
    syntax: "slot:integer...",
    flags: CHANGING,
    summary: "Takes slots from this node.",
    since: "3.0.0",
    complexity: "O(N), N being the number of slots.",
    ..of(delete)
};

pub(super) const DELSLOTSRANGE: Spec = Spec {
    name: "cluster|delslotsrange",
    arity: -4,
    syntax: "range(start-slot:integer end-slot:integer)...",
    flags: CHANGING,
    summary: "Takes ranges of slots from this node.",
    since: "7.0.0",
    complexity: "O(N), N being the number of slots.",
    ..of(delete_ranges)
};

pub(super) const FLUSHSLOTS: Spec = Spec {
    name: "cluster|flushslots",
    arity: 2,
    flags: CHANGING,
    summary: "Takes all slots from this node.",
    since: "3.0.0",
    ..of(flush)
};

/// What is to become of slots.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Add,
    Delete,
}

fn add(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    assign(call, &seat, &singles(args)?, Wish::Add, reply)
}

fn delete(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    assign(call, &seat, &singles(args)?, Wish::Delete, reply)
}

fn add_ranges(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let slots = ranges(&seat, call, args, Wish::Add)?;
    apply(call, &seat, slots, Wish::Add, reply)
}

fn delete_ranges(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let slots = ranges(&seat, call, args, Wish::Delete)?;
    apply(call, &seat, slots, Wish::Delete, reply)
}

/// Each argument as a range of one slot. All are read before any is looked at.
fn singles(args: Args<'_>) -> Result<Vec<(u16, u16)>, ClusterError> {
    args.map(|text| slot(text).map(|slot| (slot, slot)))
        .collect()
}

fn assign(
    call: &mut Call<'_>,
    seat: &Seat,
    ranges: &[(u16, u16)],
    wish: Wish,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let mut slots = BTreeSet::new();
    for range in ranges {
        collect(seat, *range, wish, &mut slots)?;
    }
    apply(call, seat, slots, wish, reply)
}

/// The slots of pairs of ends, each pair being looked at before the next one is read.
fn ranges(
    seat: &Seat,
    call: &Call<'_>,
    mut args: Args<'_>,
    wish: Wish,
) -> Result<BTreeSet<u16>, CommandError> {
    if args.len() % 2 == 1 {
        return Err(CommandError::arity(call.spec));
    }
    let mut slots = BTreeSet::new();
    while !args.is_empty() {
        let (first, last) = (slot(args.bytes()?)?, slot(args.bytes()?)?);
        if first > last {
            return Err(ClusterError::Range(first, last).into());
        }
        collect(seat, (first, last), wish, &mut slots)?;
    }
    Ok(slots)
}

/// Adds the slots of a range, if they are as they have to be.
fn collect(
    seat: &Seat,
    (first, last): (u16, u16),
    wish: Wish,
    slots: &mut BTreeSet<u16>,
) -> Result<(), ClusterError> {
    for slot in first..=last {
        match (wish, seat.owner(seat.face, slot)) {
            (Wish::Add, Some(_)) => return Err(ClusterError::Busy(slot)),
            (Wish::Delete, None) => return Err(ClusterError::Unassigned(slot)),
            _ => {}
        }
        if !slots.insert(slot) {
            return Err(ClusterError::Twice(slot));
        }
    }
    Ok(())
}

fn apply(
    call: &mut Call<'_>,
    seat: &Seat,
    slots: BTreeSet<u16>,
    wish: Wish,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let face = seat.face;
    change(call, |view| {
        for slot in slots {
            view.node_mut(face).importing.remove(&slot);
            view.set_owner(slot, (wish == Wish::Add).then_some(face));
        }
    });
    reply.ok();
    Ok(Flow::Done)
}

fn flush(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    if !has_no_keys(call) {
        return Err(ClusterError::NotEmpty.into());
    }
    let own = seat.ranges_of(seat.face);
    change(call, |view| {
        for slot in own.into_iter().flat_map(|(first, last)| first..=last) {
            view.set_owner(slot, None);
        }
    });
    reply.ok();
    Ok(Flow::Done)
}
