//! `CLUSTER SLOT-STATS SLOTSRANGE first last|ORDERBY metric [LIMIT count] [ASC|DESC]`
//!
//! How many keys the slots of the caller's shard have, and what they cost while `cluster-slot-stats-enabled` is on.

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
use crate::cluster::SlotCost;
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
    let is_counting = call.state.slot_stats.is_on();
    let metric = Metric::parse(&mut args, is_counting).ok_or(ClusterError::Metric)?;
    let order = Order::parse(args)?;
    let mut slots: Vec<u16> = own(&seat).collect();
    slots.sort_by_cached_key(|slot| {
        let value = metric.of(call, *slot);
        if order.is_descending {
            u64::MAX - value
        } else {
            value
        }
    });
    slots.truncate(order.limit);
    write(call, slots, reply)
}

/// What slots are ordered by.
#[derive(Clone, Copy)]
enum Metric {
    Keys,
    Micros,
    BytesIn,
    BytesOut,
}

impl Metric {
    /// Reads one of those that there are.
    fn parse(args: &mut Args<'_>, is_counting: bool) -> Option<Self> {
        const COSTS: [(&str, Metric); 3] = [
            ("cpu-usec", Metric::Micros),
            ("network-bytes-in", Metric::BytesIn),
            ("network-bytes-out", Metric::BytesOut),
        ];
        if args.keyword("key-count") {
            return Some(Self::Keys);
        }
        let mut costs = COSTS.into_iter().filter(|_| is_counting);
        let found = costs.find(|(name, _)| args.keyword(name));
        found.map(|(_, metric)| metric)
    }

    fn of(self, call: &mut Call<'_>, slot: u16) -> u64 {
        let cost = call.state.slot_stats.of(slot);
        match self {
            Self::Keys => call.store().slot_len_of_all(slot) as u64,
            Self::Micros => cost.micros,
            Self::BytesIn => cost.bytes_in,
            Self::BytesOut => cost.bytes_out,
        }
    }
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
        let cost = call.state.slot_stats.is_on();
        let cost = cost.then(|| call.state.slot_stats.of(slot));
        reply.map(if cost.is_some() { 4 } else { 1 });
        reply.bulk(b"key-count");
        reply.unsigned(call.store().slot_len_of_all(slot) as u64);
        if let Some(cost) = cost {
            write_cost(cost, reply);
        }
    }
    Ok(Flow::Done)
}

fn write_cost(cost: SlotCost, reply: &mut ReplyWriter<'_>) {
    let SlotCost {
        micros,
        bytes_in,
        bytes_out,
    } = cost;
    for (name, value) in [
        ("cpu-usec", micros),
        ("network-bytes-in", bytes_in),
        ("network-bytes-out", bytes_out),
    ] {
        reply.bulk(name.as_bytes());
        reply.unsigned(value);
    }
}
