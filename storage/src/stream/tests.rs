//! Streams against the model, and the promises that a group makes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;

use super::model::{Model, ModelGroup};
use super::*;
use crate::autoclaim::AutoClaim;
use crate::claim::{Claim, ClaimShown, ClaimTime};
use crate::compat::Compat;
use crate::deliver::Tracking;
use crate::group::Presence;

use crate::pending::PendingFilter;
use crate::time::Millis;
use crate::trim::TrimLimit;

#[derive(Clone, Debug)]
enum Op {
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
enum GroupOp {
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
struct ClaimOp {
    consumer: u8,
    ids: Vec<Pick>,
    idle_min: u8,
    time: ClaimTime,
    deliveries: Option<u64>,
    force: bool,
    shown: ClaimShown,
    last_id: Option<Pick>,
}

/// An ID that there was, one next to it, or one of the ends.
#[derive(Clone, Debug)]
enum Pick {
    Of(Index),
    After(Index),
    First,
    Last,
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        20 => any::<Index>().prop_map(Pick::Of),
        2 => any::<Index>().prop_map(Pick::After),
        2 => Just(Pick::First),
        1 => Just(Pick::Last),
    ]
}

fn picks() -> impl Strategy<Value = Vec<Pick>> {
    prop::collection::vec(pick(), 0..8)
}

fn request() -> impl Strategy<Value = IdRequest> {
    prop_oneof![
        20 => Just(IdRequest::Auto),
        3 => (990..1_100u64).prop_map(|ms| IdRequest::AutoSeq { ms }),
        3 => (990..1_100u64, 0..3u64).prop_map(|(ms, seq)| IdRequest::Exact(StreamId::new(ms, seq))),
        1 => Just(IdRequest::Exact(StreamId::MIN)),
    ]
}

fn trim() -> impl Strategy<Value = Trim> {
    (0..80u64, any::<bool>(), 0..20u64).prop_map(|(len, approximate, limit)| Trim {
        limit: TrimLimit::MaxLen(len),
        approximate,
        entries_max: if approximate { limit } else { 0 },
    })
}

fn op() -> impl Strategy<Value = Op> {
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

fn group_op() -> impl Strategy<Value = GroupOp> {
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

fn tracking() -> impl Strategy<Value = Tracking> {
    prop_oneof![6 => Just(Tracking::Pending), 1 => Just(Tracking::NoAck)]
}

fn shown() -> impl Strategy<Value = ClaimShown> {
    prop_oneof![Just(ClaimShown::Entry), Just(ClaimShown::JustId)]
}

fn claim_op() -> impl Strategy<Value = ClaimOp> {
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

fn auto_claim_op() -> impl Strategy<Value = GroupOp> {
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

/// A stream and its model, with what is needed to choose the next step.
struct Pair {
    stream: Stream,
    model: Model,
    now: UnixMillis,
    ids: Vec<StreamId>,
}

const LIMITS: NodeLimits = NodeLimits {
    bytes_max: 0,
    entries_max: 7,
    packs: true,
};

impl Pair {
    fn new() -> Self {
        Self {
            stream: Stream::new(),
            model: Model::default(),
            now: UnixMillis(1_000),
            ids: Vec::new(),
        }
    }

    fn id(&self, pick: &Pick) -> StreamId {
        match pick {
            Pick::Of(_) | Pick::After(_) if self.ids.is_empty() => StreamId::MIN,
            Pick::Of(index) => *index.get(&self.ids),
            Pick::After(index) => index.get(&self.ids).next().unwrap(),
            Pick::First => StreamId::MIN,
            Pick::Last => StreamId::new(1 << 40, 0),
        }
    }

    fn each(&self, from: &Index, step: u8) -> Vec<StreamId> {
        let from = if self.ids.is_empty() {
            0
        } else {
            from.index(self.ids.len())
        };
        self.ids[from..]
            .iter()
            .copied()
            .step_by(step.into())
            .take(200)
            .collect()
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Pass(ms) => self.now.0 = self.now.0.saturating_add_signed((*ms).into()),
            Op::Append { count, request } => {
                for _ in 0..*count {
                    let fields = [&b"f"[..], b"v"].into_iter();
                    let id = self.stream.append(*request, fields, self.now, LIMITS);
                    assert_eq!(id, self.model.append(*request, self.now));
                    self.ids.extend(id);
                }
            }
            Op::Delete(picks) => {
                let ids = picks.iter().map(|pick| self.id(pick)).collect::<Vec<_>>();
                let count = self.stream.delete(ids.iter().copied());
                assert_eq!(count, self.model.delete(&ids));
            }
            Op::DeleteEach { from, step } => {
                let ids = self.each(from, *step);
                let count = self.stream.delete(ids.iter().copied());
                assert_eq!(count, self.model.delete(&ids));
            }
            Op::Trim(trim) => self.trim(*trim),
            Op::TrimTo { id, approximate } => self.trim(Trim {
                limit: TrimLimit::MinId(self.id(id)),
                approximate: *approximate,
                entries_max: 0,
            }),
            Op::SetId {
                id,
                added,
                max_deleted,
            } => {
                let id = self.id(id);
                let added = added.map(u64::from);
                let max_deleted = max_deleted
                    .as_ref()
                    .map_or(StreamId::MIN, |pick| self.id(pick));
                let ask = SetId::new(id);
                let ask = added.map_or(ask, |added| ask.entries_added(added));
                let Ok(ask) = ask.max_deleted(max_deleted) else {
                    assert!(max_deleted > id);
                    return;
                };
                assert_eq!(
                    self.stream.set_id(ask),
                    self.model.set_id(id, added, max_deleted)
                );
            }
            Op::Group(group, op) => self.apply_to_group(&[b'g', *group], op),
        }
    }

    /// How much an approximate trim takes is the log's business; that it takes the oldest is ours.
    fn trim(&mut self, trim: Trim) {
        for _ in 0..self.stream.trim(trim) {
            self.model.live.pop_first();
        }
        if !trim.approximate {
            match trim.limit {
                TrimLimit::MaxLen(len) => assert!(self.stream.len() <= len),
                TrimLimit::MinId(id) => {
                    assert!(self.model.live.first().is_none_or(|&first| first >= id))
                }
            }
        }
    }

    fn apply_to_group(&mut self, group: &[u8], op: &GroupOp) {
        if let GroupOp::Create { at, read } = op {
            let (at, read) = (self.id(at), read.map(u64::from));
            let created = self.stream.create_group(group, at, read).is_ok();
            assert_eq!(created, !self.model.groups.contains_key(group));
            let entry = self.model.groups.entry(group.to_vec());
            entry.or_insert_with(|| ModelGroup {
                last: at,
                read,
                ..Default::default()
            });
            return;
        }
        if !self.model.groups.contains_key(group) {
            let none = self.stream.acknowledge(group, []);
            assert_eq!(none, Err(NoGroup));
            return;
        }
        match op {
            GroupOp::Create { .. } => {}
            GroupOp::SetId { at, read } => {
                let (at, read) = (self.id(at), read.map(u64::from));
                self.stream.set_group_id(group, at, read).unwrap();
                let group = self.model.groups.get_mut(group).unwrap();
                (group.last, group.read) = (at, read);
            }
            GroupOp::Destroy => {
                assert!(self.stream.destroy_group(group));
                self.model.groups.remove(group);
            }
            GroupOp::CreateConsumer(consumer) => {
                let consumer = [b'c', *consumer];
                let created = self
                    .stream
                    .create_consumer(group, &consumer, self.now)
                    .unwrap();
                let exists = self.model.groups[group]
                    .consumers
                    .contains_key(&consumer[..]);
                assert_eq!(created, !exists);
                if created {
                    self.model.see(group, &consumer, false, self.now);
                }
            }
            GroupOp::DeleteConsumer(consumer) => {
                let consumer = [b'c', *consumer];
                let dropped = self.stream.delete_consumer(group, &consumer).unwrap();
                let group = self.model.groups.get_mut(group).unwrap();
                let before = group.pending.len();
                group.pending.retain(|_, nack| nack.owner != consumer);
                let gone = (before - group.pending.len()) as u64;
                let existed = group.consumers.remove(&consumer[..]).is_some();
                assert_eq!(dropped, existed.then_some(gone));
            }
            GroupOp::Ack(picks) => {
                let ids = picks.iter().map(|pick| self.id(pick)).collect::<Vec<_>>();
                self.acknowledge(group, &ids);
            }
            GroupOp::AckEach { from, step } => self.acknowledge(group, &self.each(from, *step)),
            _ => self.hand_out(group, op),
        }
    }

    fn acknowledge(&mut self, group: &[u8], ids: &[StreamId]) {
        let count = self.stream.acknowledge(group, ids.iter().copied()).unwrap();
        let pending = &mut self.model.groups.get_mut(group).unwrap().pending;
        let gone = ids.iter().filter(|id| pending.remove(id).is_some());
        assert_eq!(count, gone.count() as u64);
    }

    fn hand_out(&mut self, group: &[u8], op: &GroupOp) {
        let now = self.now;
        match op {
            GroupOp::ReadNew {
                consumer,
                count,
                tracking,
            } => {
                let (consumer, count) = ([b'c', *consumer], u64::from(*count));
                let read = self
                    .stream
                    .read_new(group, &consumer, count, *tracking, now)
                    .unwrap();
                let expected = self.model.read_new(group, &consumer, count, *tracking, now);
                assert_eq!(read.delivered, expected);
            }
            GroupOp::ReadHistory {
                consumer,
                after,
                count,
            } => {
                let (consumer, count, after) =
                    ([b'c', *consumer], u64::from(*count), self.id(after));
                let read = self
                    .stream
                    .read_history(group, &consumer, after, count, now)
                    .unwrap();
                let expected = self.model.read_history(group, &consumer, after, count, now);
                assert_eq!(read.entries, expected);
            }
            GroupOp::Claim(op) => {
                let ids = op.ids.iter().map(|pick| self.id(pick)).collect::<Vec<_>>();
                let claim = Claim {
                    ids: &ids,
                    idle_min: Millis(op.idle_min.into()),
                    time: op.time,
                    deliveries: op.deliveries,
                    force: op.force,
                    shown: op.shown,
                    last_id: op
                        .last_id
                        .as_ref()
                        .map_or(StreamId::MIN, |pick| self.id(pick)),
                };
                let consumer = [b'c', op.consumer];
                let claimed = self.stream.claim(group, &consumer, &claim, now).unwrap();
                assert_eq!(claimed.ids, self.model.claim(group, &consumer, &claim, now));
            }
            GroupOp::AutoClaim {
                consumer,
                ask,
                start,
            } => {
                let (consumer, start) = ([b'c', *consumer], self.id(start));
                let ask = AutoClaim { start, ..*ask };
                let claimed = self.stream.auto_claim(group, &consumer, ask, now).unwrap();
                assert_eq!(claimed, self.model.auto_claim(group, &consumer, ask, now));
            }
            _ => unreachable!("the caller has done the others"),
        }
    }

    fn assert_same(&self) {
        let (stream, model) = (&self.stream, &self.model);
        stream.check();
        assert_eq!(stream.len(), model.live.len() as u64);
        assert_eq!(stream.last_id(), model.last_id);
        assert_eq!(stream.max_deleted_id(), model.max_deleted);
        assert_eq!(stream.entries_added(), model.added);
        let ids = stream
            .log()
            .range(StreamId::MIN, StreamId::MAX)
            .map(|entry| entry.id());
        assert!(ids.eq(model.live.iter().copied()));
        assert!(
            stream
                .groups()
                .map(|(name, _)| name)
                .eq(model.groups.keys())
        );
        for (name, expected) in &model.groups {
            self.assert_same_group(stream.group(name).unwrap(), expected);
        }
    }

    fn assert_same_group(&self, group: &Group, expected: &ModelGroup) {
        assert_eq!(group.last_delivered(), expected.last);
        assert_eq!(group.entries_read(), expected.read);
        for compat in [Compat::Valkey, Compat::Redis] {
            assert_eq!(
                self.stream.lag(group, compat),
                self.model.lag(expected, compat)
            );
        }
        let pending = group.pending().iter(PendingFilter::default()).map(|entry| {
            let owner = group.consumer(entry.consumer).name().to_vec();
            (entry.id, owner, entry.delivered_at.0, entry.deliveries)
        });
        let nacks = expected.pending.iter();
        assert!(pending.eq(nacks.map(|(&id, nack)| (
            id,
            nack.owner.clone(),
            nack.time,
            nack.count
        ))));

        let consumers = group.consumers().map(|(index, consumer)| {
            let seen = group.seen_at(index, Presence::Away).0;
            (
                consumer.name().to_vec(),
                seen,
                consumer.active_at().map(|at| at.0),
            )
        });
        let expected_consumers = expected.consumers.iter();
        assert!(consumers.eq(expected_consumers.map(|(name, c)| (name.clone(), c.seen, c.active))));

        let mut counts = BTreeMap::<&[u8], u64>::new();
        for nack in expected.pending.values() {
            *counts.entry(&nack.owner).or_default() += 1;
        }
        assert!(group.pending_by_consumer().eq(counts));
        let total = group
            .pending_by_consumer()
            .map(|(_, count)| count)
            .sum::<u64>();
        let summary = group.pending_summary();
        assert_eq!(summary.map_or(0, |summary| summary.count as u64), total);
    }
}

proptest! {
    /// Every operation answers and leaves behind what the rules say, and so does its copy.
    #[test]
    fn a_stream_follows_the_rules(ops in prop::collection::vec(op(), 0..60)) {
        let mut pair = Pair::new();
        for op in &ops {
            pair.apply(op);
            pair.assert_same();
        }
        pair.stream = pair.stream.clone();
        pair.assert_same();
    }

    /// At least once: whatever happens, an entry that was neither acknowledged nor deleted is
    /// undelivered or pending. And a group that is not set back delivers each entry once.
    #[test]
    fn no_entry_is_lost_or_delivered_afresh_twice(ops in prop::collection::vec(op(), 0..60)) {
        let mut pair = Pair::new();
        pair.stream.create_group(KEPT, StreamId::MIN, None).unwrap();
        let (mut settled, mut delivered) = (BTreeSet::new(), BTreeSet::new());
        for op in &ops {
            match op {
                Op::Group(_, op) => pair.serve_kept(op, &mut delivered, &mut settled),
                Op::SetId { .. } => {}
                op => pair.apply(op),
            }
        }
        let group = pair.stream.group(KEPT).unwrap();
        for &id in pair.model.live.iter().filter(|id| !settled.contains(id)) {
            let pending = group.pending().get(id).is_some();
            prop_assert!(id > group.last_delivered() || pending, "{} was lost", id);
        }
    }
}

/// A group that nobody sets back, destroys or deletes consumers of.
const KEPT: &[u8] = b"kept";

impl Pair {
    fn serve_kept(
        &mut self,
        op: &GroupOp,
        delivered: &mut BTreeSet<StreamId>,
        settled: &mut BTreeSet<StreamId>,
    ) {
        let now = self.now;
        match op {
            GroupOp::ReadNew {
                consumer, count, ..
            } => {
                let (consumer, count) = ([*consumer], (*count).into());
                let tracking = Tracking::Pending;
                let read = self
                    .stream
                    .read_new(KEPT, &consumer, count, tracking, now)
                    .unwrap();
                let Some(new) = read.delivered else { return };
                let before = delivered.len() as u64;
                for entry in self.stream.log().range(new.from, new.to) {
                    assert!(delivered.insert(entry.id()), "{} came twice", entry.id());
                }
                assert_eq!(delivered.len() as u64, before + new.count);
            }
            GroupOp::AckEach { from, step } => {
                let ids = self.each(from, *step);
                self.stream.acknowledge(KEPT, ids.iter().copied()).unwrap();
                settled.extend(ids.into_iter().filter(|id| delivered.contains(id)));
            }
            GroupOp::AutoClaim { consumer, ask, .. } => {
                self.stream
                    .auto_claim(KEPT, &[*consumer], *ask, now)
                    .unwrap();
            }
            _ => {}
        }
    }
}

/// With four thousand waiting, nobody is touched one by one; what an attempt does to a waiting
/// consumer's idle time shows nevertheless, and stays when the wait is over.
#[test]
fn an_attempt_is_seen_by_those_who_wait_and_nobody_else() {
    let mut stream = Stream::new();
    stream.create_group(b"g", StreamId::MIN, None).unwrap();
    for name in [&b"waits"[..], b"away"] {
        stream.create_consumer(b"g", name, UnixMillis(10)).unwrap();
    }
    stream.note_attempt(b"g", UnixMillis(50)).unwrap();

    let group = stream.group(b"g").unwrap();
    let waits = group.find_consumer(b"waits").unwrap();
    let away = group.find_consumer(b"away").unwrap();
    assert_eq!(group.seen_at(waits, Presence::Waits), UnixMillis(50));
    assert_eq!(group.seen_at(away, Presence::Away), UnixMillis(10));

    stream.end_wait(b"g", b"waits").unwrap();
    let group = stream.group(b"g").unwrap();
    assert_eq!(group.seen_at(waits, Presence::Away), UnixMillis(50));
}

#[test]
fn an_entry_of_a_gigabyte_and_a_byte_is_too_large() {
    let mut stream = Stream::new();
    let value = vec![0; ENTRY_BYTES_MAX];
    let fields = [&b"f"[..], &value].into_iter();
    let id = stream.append(
        IdRequest::Auto,
        fields,
        UnixMillis(1),
        NodeLimits::default(),
    );
    assert_eq!(id, Err(AppendError::TooLarge));
    assert_eq!((stream.len(), stream.last_id()), (0, StreamId::MIN));
}
