//! `CLUSTER SLOT-STATS SLOTSRANGE first last|ORDERBY metric [LIMIT count] [ASC|DESC]`
//!
//! How many keys the slots of the caller's shard have. Nothing else is counted.

use tailrace_protocol::ReplyWriter;

use tailrace_storage::SLOT_COUNT;

use super::READING;
use super::of;
use super::seat;
use super::seat::Seat;
use super::slot;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|slot-stats",
    arity: -4,
    syntax: "filter(SLOTSRANGE slotsrange(start-slot:integer end-slot:integer) | \
             ORDERBY orderby(metric [LIMIT limit:integer] [order(ASC|DESC)]))",
    flags: READING,
    tips: &["nondeterministic_output", "request_policy:all_shards"],
    summary: "Tells how the slots of this node are used.",
    since: "8.0.0",
    complexity: "O(N), N being the number of slots; O(N log N) if they are ordered.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    if args.len() == 3 && args.keyword("slotsrange") {
        let (first, last) = (slot(args.bytes()?)?, slot(args.bytes()?)?);
        if first > last {
            return Err(ClusterError::StatsRange(first, last).into());
        }
        let slots = own(&seat)
            .filter(|slot| (first..=last).contains(slot))
            .collect();
        return write(call, slots, reply);
    }
    if !args.keyword("orderby") {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }
    if !args.keyword("key-count") {
        return Err(ClusterError::Metric.into());
    }
    let order = Order::parse(args)?;
    let mut slots: Vec<u16> = own(&seat).collect();
    let store = call.store();
    slots.sort_by_key(|slot| {
        let len = store.slot_len_of_all(*slot) as u64;
        if order.is_descending {
            u64::MAX - len
        } else {
            len
        }
    });
    slots.truncate(order.limit);
    write(call, slots, reply)
}

struct Order {
    limit: usize,
    is_descending: bool,
}

impl Order {
    fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        let mut order = Self {
            limit: usize::from(SLOT_COUNT),
            is_descending: true,
        };
        let (mut limits, mut directions) = (0, 0);
        while !args.is_empty() {
            if args.keyword_with("limit", 1) {
                let limit = args.integer_or(ClusterError::StatsLimit.into())?;
                let limit = usize::try_from(limit).ok();
                let limit = limit.filter(|limit| (1..=usize::from(SLOT_COUNT)).contains(limit));
                order.limit = limit.ok_or(ClusterError::StatsLimit)?;
                limits += 1;
            } else if args.keyword("asc") {
                order.is_descending = false;
                directions += 1;
            } else if args.keyword("desc") {
                order.is_descending = true;
                directions += 1;
            } else {
                return Err(CommandError::Syntax);
            }
            if limits > 1 || directions > 1 {
                return Err(ClusterError::StatsTwice.into());
            }
        }
        Ok(order)
    }
}

/// The slots of the caller's shard.
fn own(seat: &Seat) -> impl Iterator<Item = u16> {
    let primary = seat.primary_of(seat.face);
    (0..SLOT_COUNT).filter(move |slot| seat.owner_of(*slot) == Some(primary))
}

fn write(
    call: &mut Call<'_>,
    slots: Vec<u16>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.array(slots.len());
    for slot in slots {
        reply.array(2);
        reply.unsigned(slot.into());
        reply.map(1);
        reply.bulk(b"key-count");
        reply.unsigned(call.store().slot_len_of_all(slot) as u64);
    }
    Ok(Flow::Done)
}
