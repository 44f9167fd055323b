//! A stream beside the model of it, to which the same is done.

use std::collections::BTreeMap;

use super::super::model::{Model, ModelGroup};
use super::super::*;
use super::ops::{GroupOp, Op, Pick};
use crate::autoclaim::AutoClaim;
use crate::claim::Claim;
use crate::compat::Compat;
use crate::group::Presence;
use crate::pending::PendingFilter;
use crate::time::Millis;
use crate::trim::TrimLimit;
use proptest::sample::Index;

/// A stream and its model, with what is needed to choose the next step.
pub(super) struct Pair {
    pub(super) stream: Stream,
    pub(super) model: Model,
    pub(super) now: UnixMillis,
    pub(super) ids: Vec<StreamId>,
}

pub(super) const LIMITS: NodeLimits = NodeLimits {
    bytes_max: 0,
    entries_max: 7,
    packs: true,
};

impl Pair {
    pub(super) fn new() -> Self {
        Self {
            stream: Stream::new(),
            model: Model::default(),
            now: UnixMillis(1_000),
            ids: Vec::new(),
        }
    }

    pub(super) fn id(&self, pick: &Pick) -> StreamId {
        match pick {
            Pick::Of(_) | Pick::After(_) if self.ids.is_empty() => StreamId::MIN,
            Pick::Of(index) => *index.get(&self.ids),
            Pick::After(index) => index.get(&self.ids).next().unwrap(),
            Pick::First => StreamId::MIN,
            Pick::Last => StreamId::new(1 << 40, 0),
        }
    }

    pub(super) fn each(&self, from: &Index, step: u8) -> Vec<StreamId> {
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

    pub(super) fn apply(&mut self, op: &Op) {
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
    pub(super) fn trim(&mut self, trim: Trim) {
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

    pub(super) fn apply_to_group(&mut self, group: &[u8], op: &GroupOp) {
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

    pub(super) fn acknowledge(&mut self, group: &[u8], ids: &[StreamId]) {
        let count = self.stream.acknowledge(group, ids.iter().copied()).unwrap();
        let pending = &mut self.model.groups.get_mut(group).unwrap().pending;
        let gone = ids.iter().filter(|id| pending.remove(id).is_some());
        assert_eq!(count, gone.count() as u64);
    }

    pub(super) fn hand_out(&mut self, group: &[u8], op: &GroupOp) {
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

    pub(super) fn assert_same(&self) {
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

    pub(super) fn assert_same_group(&self, group: &Group, expected: &ModelGroup) {
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
