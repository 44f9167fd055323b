//! What may be done to a stream, at random.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::autoclaim::AutoClaim;
use crate::claim::{ClaimShown, ClaimTime};
use crate::deliver::Tracking;
use crate::id::{IdRequest, StreamId};
use crate::time::Millis;
use crate::trim::{Trim, TrimLimit};

#[derive(Clone, Debug)]
pub(super) enum Op {
    Pass(i8),
    Append {
        count: u8,
        request: IdRequest,
    },
    Delete(Vec<Pick>),
    DeleteEach {
        from: Index,
        step: u8,
    },
    Trim(Trim),
    TrimTo {
        id: Pick,
        approximate: bool,
    },
    SetId {
        id: Pick,
        added: Option<u8>,
        max_deleted: Option<Pick>,
    },
    Group(u8, GroupOp),
}

#[derive(Clone, Debug)]
pub(super) enum GroupOp {
    Create {
        at: Pick,
        read: Option<u8>,
    },
    SetId {
        at: Pick,
        read: Option<u8>,
    },
    Destroy,
    CreateConsumer(u8),
    DeleteConsumer(u8),
    ReadNew {
        consumer: u8,
        count: u8,
        tracking: Tracking,
    },
    ReadHistory {
        consumer: u8,
        after: Pick,
        count: u8,
    },
    Ack(Vec<Pick>),
    AckEach {
        from: Index,
        step: u8,
    },
    Claim(ClaimOp),
    AutoClaim {
        consumer: u8,
        ask: AutoClaim,
        start: Pick,
    },
}

#[derive(Clone, Debug)]
pub(super) struct ClaimOp {
    pub(super) consumer: u8,
    pub(super) ids: Vec<Pick>,
    pub(super) idle_min: u8,
    pub(super) time: ClaimTime,
    pub(super) deliveries: Option<u64>,
    pub(super) force: bool,
    pub(super) shown: ClaimShown,
    pub(super) last_id: Option<Pick>,
}

/// An ID that there was, one next to it, or one of the ends.
#[derive(Clone, Debug)]
pub(super) enum Pick {
    Of(Index),
    After(Index),
    First,
    Last,
}

pub(super) fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        20 => any::<Index>().prop_map(Pick::Of),
        2 => any::<Index>().prop_map(Pick::After),
        2 => Just(Pick::First),
        1 => Just(Pick::Last),
    ]
}

pub(super) fn picks() -> impl Strategy<Value = Vec<Pick>> {
    prop::collection::vec(pick(), 0..8)
}

pub(super) fn request() -> impl Strategy<Value = IdRequest> {
    prop_oneof![
        20 => Just(IdRequest::Auto),
        3 => (990..1_100u64).prop_map(|ms| IdRequest::AutoSeq { ms }),
        3 => (990..1_100u64, 0..3u64).prop_map(|(ms, seq)| IdRequest::Exact(StreamId::new(ms, seq))),
        1 => Just(IdRequest::Exact(StreamId::MIN)),
    ]
}

pub(super) fn trim() -> impl Strategy<Value = Trim> {
    (0..80u64, any::<bool>(), 0..20u64).prop_map(|(len, approximate, limit)| Trim {
        limit: TrimLimit::MaxLen(len),
        approximate,
        entries_max: if approximate { limit } else { 0 },
    })
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => any::<i8>().prop_map(Op::Pass),
        6 => (1..60u8, request()).prop_map(|(count, request)| Op::Append { count, request }),
        2 => picks().prop_map(Op::Delete),
        1 => (any::<Index>(), 1..5u8).prop_map(|(from, step)| Op::DeleteEach { from, step }),
        1 => trim().prop_map(Op::Trim),
        1 => (pick(), any::<bool>()).prop_map(|(id, approximate)| Op::TrimTo { id, approximate }),
        1 => (pick(), prop::option::of(any::<u8>()), prop::option::of(pick()))
            .prop_map(|(id, added, max_deleted)| Op::SetId { id, added, max_deleted }),
        24 => (0..2u8, group_op()).prop_map(|(group, op)| Op::Group(group, op)),
    ]
}

pub(super) fn group_op() -> impl Strategy<Value = GroupOp> {
    let read = || prop::option::of(any::<u8>());
    prop_oneof![
        3 => (pick(), read()).prop_map(|(at, read)| GroupOp::Create { at, read }),
        1 => (pick(), read()).prop_map(|(at, read)| GroupOp::SetId { at, read }),
        1 => Just(GroupOp::Destroy),
        1 => (0..4u8).prop_map(GroupOp::CreateConsumer),
        1 => (0..4u8).prop_map(GroupOp::DeleteConsumer),
        8 => (0..4u8, 1..100u8, tracking()).prop_map(|(consumer, count, tracking)| {
            GroupOp::ReadNew { consumer, count, tracking }
        }),
        3 => (0..4u8, pick(), 1..50u8).prop_map(|(consumer, after, count)| {
            GroupOp::ReadHistory { consumer, after, count }
        }),
        2 => picks().prop_map(GroupOp::Ack),
        2 => (any::<Index>(), 1..6u8).prop_map(|(from, step)| GroupOp::AckEach { from, step }),
        5 => claim_op().prop_map(GroupOp::Claim),
        5 => auto_claim_op(),
    ]
}

pub(super) fn tracking() -> impl Strategy<Value = Tracking> {
    prop_oneof![6 => Just(Tracking::Pending), 1 => Just(Tracking::NoAck)]
}

pub(super) fn shown() -> impl Strategy<Value = ClaimShown> {
    prop_oneof![Just(ClaimShown::Entry), Just(ClaimShown::JustId)]
}

pub(super) fn claim_op() -> impl Strategy<Value = ClaimOp> {
    let time = prop_oneof![
        Just(ClaimTime::Now),
        (-5..200i64).prop_map(ClaimTime::Idle),
        (-5..1_300i64).prop_map(ClaimTime::At),
    ];
    let deliveries = prop::option::of(prop_oneof![0..4u64, (1..4u64).prop_map(|n| n << 32)]);
    let last_id = prop::option::weighted(0.2, pick());
    let parts = (
        0..4u8,
        picks(),
        0..120u8,
        time,
        deliveries,
        any::<bool>(),
        shown(),
        last_id,
    );
    parts.prop_map(
        |(consumer, ids, idle_min, time, deliveries, force, shown, last_id)| ClaimOp {
            consumer,
            ids,
            idle_min,
            time,
            deliveries,
            force,
            shown,
            last_id,
        },
    )
}

pub(super) fn auto_claim_op() -> impl Strategy<Value = GroupOp> {
    let count = prop_oneof![1..5u64, 1..200u64];
    (0..4u8, 0..120u64, count, pick(), shown()).prop_map(
        |(consumer, idle_min, count, start, shown)| {
            let ask = AutoClaim {
                start: StreamId::MIN,
                idle_min: Millis(idle_min),
                count_max: count,
                shown,
            };
            GroupOp::AutoClaim {
                consumer,
                ask,
                start,
            }
        },
    )
}
