//! A stream as the rules tell it: plain maps, one entry at a time, no thought of speed.

use std::collections::{BTreeMap, BTreeSet};

use crate::autoclaim::{AutoClaim, AutoClaimed};
use crate::claim::{Claim, ClaimShown, ClaimTime};
use crate::compat::Compat;
use crate::deliver::{Delivered, HistoryEntry, Tracking};
use crate::id::{IdRequest, StreamId};
use crate::stream::{AppendError, SetIdError};
use crate::time::UnixMillis;

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) live: BTreeSet<StreamId>,
    pub(super) last_id: StreamId,
    pub(super) max_deleted: StreamId,
    pub(super) added: u64,
    pub(super) groups: BTreeMap<Vec<u8>, ModelGroup>,
}

#[derive(Debug, Default)]
pub(super) struct ModelGroup {
    pub(super) last: StreamId,
    pub(super) read: Option<u64>,
    pub(super) pending: BTreeMap<StreamId, Nack>,
    pub(super) consumers: BTreeMap<Vec<u8>, ModelConsumer>,
}

#[derive(Clone, Debug)]
pub(super) struct Nack {
    pub(super) owner: Vec<u8>,
    pub(super) time: u64,
    pub(super) count: u64,
}

#[derive(Debug)]
pub(super) struct ModelConsumer {
    pub(super) seen: u64,
    pub(super) active: Option<u64>,
}

impl Model {
    pub(super) fn append(
        &mut self,
        request: IdRequest,
        now: UnixMillis,
    ) -> Result<StreamId, AppendError> {
        let last = self.last_id;
        let id = match request {
            IdRequest::Exact(StreamId::MIN) => return Err(AppendError::Zero),
            _ if last == StreamId::MAX => return Err(AppendError::Exhausted),
            IdRequest::Exact(id) => Some(id),
            IdRequest::Auto => last.next().max(Some(StreamId::new(now.0, 0))),
            IdRequest::AutoSeq { ms } if ms == last.ms => {
                last.seq.checked_add(1).map(|seq| StreamId::new(ms, seq))
            }
            IdRequest::AutoSeq { ms } => Some(StreamId::new(ms, 0)),
        };
        let id = id.filter(|&id| id > last).ok_or(AppendError::NotGreater)?;
        self.live.insert(id);
        self.last_id = id;
        self.added += 1;
        Ok(id)
    }

    pub(super) fn delete(&mut self, ids: &[StreamId]) -> u64 {
        let gone = ids.iter().filter(|id| self.live.remove(id));
        let gone = gone.collect::<Vec<_>>();
        for &&id in &gone {
            self.max_deleted = self.max_deleted.max(id);
        }
        gone.len() as u64
    }

    pub(super) fn set_id(
        &mut self,
        id: StreamId,
        added: Option<u64>,
        max_deleted: StreamId,
    ) -> Result<(), SetIdError> {
        if id < self.max_deleted {
            return Err(SetIdError::BelowMaxDeleted);
        }
        if self.live.last().is_some_and(|&top| id < top) {
            return Err(SetIdError::BelowTop);
        }
        if !self.live.is_empty() && added.is_some_and(|n| n < self.live.len() as u64) {
            return Err(SetIdError::AddedBelowLen);
        }
        self.last_id = id;
        self.added = added.unwrap_or(self.added);
        if max_deleted != StreamId::MIN {
            self.max_deleted = max_deleted;
        }
        Ok(())
    }

    pub(super) fn read_new(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        count: u64,
        tracking: Tracking,
        now: UnixMillis,
    ) -> Option<Delivered> {
        let fresh = self.live.iter().copied();
        let last = self.groups[group].last;
        let fresh = fresh.filter(|&id| id > last);
        let fresh = fresh
            .take(usize::try_from(count).unwrap())
            .collect::<Vec<_>>();
        for &id in &fresh {
            let read = self.read_after(&self.groups[group], id);
            let group = self.groups.get_mut(group).unwrap();
            group.read = read;
            group.last = id;
            if tracking == Tracking::Pending {
                let nack = Nack {
                    owner: consumer.to_vec(),
                    time: now.0,
                    count: 1,
                };
                group.pending.insert(id, nack);
            }
        }
        let took = tracking == Tracking::Pending && !fresh.is_empty();
        self.see(group, consumer, took, now);
        Some(Delivered {
            from: *fresh.first()?,
            to: *fresh.last()?,
            count: fresh.len() as u64,
        })
    }

    pub(super) fn read_history(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        after: StreamId,
        count: u64,
        now: UnixMillis,
    ) -> Vec<HistoryEntry> {
        self.see(group, consumer, false, now);
        let group = self.groups.get_mut(group).unwrap();
        let own = group.pending.iter_mut();
        own.filter(|(id, nack)| **id > after && nack.owner == consumer)
            .take(usize::try_from(count).unwrap())
            .map(|(&id, nack)| {
                let is_live = self.live.contains(&id);
                if is_live {
                    nack.time = now.0;
                    nack.count += 1;
                }
                HistoryEntry { id, is_live }
            })
            .collect()
    }

    pub(super) fn claim(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        claim: &Claim<'_>,
        now: UnixMillis,
    ) -> Vec<StreamId> {
        let signed = |at: UnixMillis| i64::try_from(at.0).unwrap();
        let time = match claim.time {
            ClaimTime::Now => signed(now),
            ClaimTime::Idle(idle) => signed(now) - idle,
            ClaimTime::At(at) => at,
        };
        let time = if time < 0 || time > signed(now) {
            now.0
        } else {
            u64::try_from(time).unwrap()
        };
        let mut claimed = Vec::new();
        let to = self.groups.get_mut(group).unwrap();
        to.last = to.last.max(claim.last_id);
        for &id in claim.ids {
            if !self.live.contains(&id) {
                to.pending.remove(&id);
                continue;
            }
            let is_idle = |nack: &Nack| now.0.saturating_sub(nack.time) >= claim.min_idle.0;
            let count = match to.pending.get(&id) {
                None if claim.force => 1,
                Some(nack) if is_idle(nack) => nack.count,
                _ => continue,
            };
            let counted = count + u64::from(claim.shown == ClaimShown::Entry);
            let nack = Nack {
                owner: consumer.to_vec(),
                time,
                count: claim.deliveries.unwrap_or(counted),
            };
            to.pending.insert(id, nack);
            claimed.push(id);
        }
        self.see(group, consumer, !claimed.is_empty(), now);
        claimed
    }

    pub(super) fn auto_claim(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        ask: AutoClaim,
        now: UnixMillis,
    ) -> AutoClaimed {
        let to = self.groups.get_mut(group).unwrap();
        let consumer_created = !to.consumers.contains_key(consumer);
        let (mut claimed, mut deleted) = (Vec::new(), Vec::new());
        let mut scanned = 0;
        let mut left = to.pending.range(ask.start..).map(|(&id, _)| id);
        let left = left.by_ref().collect::<Vec<_>>();
        let mut left = left.into_iter();
        let mut next = left.next();
        while let Some(id) = next {
            let found = (claimed.len() + deleted.len()) as u64;
            if found == ask.count_max || scanned == 10 * ask.count_max {
                break;
            }
            scanned += 1;
            next = left.next();
            if !self.live.contains(&id) {
                to.pending.remove(&id);
                deleted.push(id);
                continue;
            }
            let nack = to.pending.get_mut(&id).unwrap();
            if now.0.saturating_sub(nack.time) < ask.min_idle.0 {
                continue;
            }
            nack.owner = consumer.to_vec();
            nack.time = now.0;
            nack.count += u64::from(ask.shown == ClaimShown::Entry);
            claimed.push(id);
        }
        self.see(group, consumer, !claimed.is_empty(), now);
        AutoClaimed {
            next,
            claimed,
            deleted,
            consumer_created,
        }
    }

    pub(super) fn see(&mut self, group: &[u8], consumer: &[u8], took: bool, now: UnixMillis) {
        let group = self.groups.get_mut(group).unwrap();
        let consumer = group
            .consumers
            .entry(consumer.to_vec())
            .or_insert(ModelConsumer {
                seen: 0,
                active: None,
            });
        consumer.seen = now.0;
        if took {
            consumer.active = Some(now.0);
        }
    }

    /// Rule 127, for both references.
    pub(super) fn lag(&self, group: &ModelGroup, compat: Compat) -> Option<u64> {
        let len = self.live.len() as u64;
        let first = self.first();
        if self.added == 0 || (compat == Compat::Redis && len == 0) {
            return Some(0);
        }
        if compat == Compat::Redis && group.last < first && self.max_deleted < first {
            return Some(len);
        }
        let read = match group.read {
            Some(read) if len == 0 || !self.has_tombstone_from(group.last) => read,
            _ => self.estimate(group.last)?,
        };
        Some(self.added.saturating_sub(read))
    }

    fn read_after(&self, group: &ModelGroup, id: StreamId) -> Option<u64> {
        match group.read {
            Some(read) if group.last >= self.first() && !self.has_tombstone_from(group.last) => {
                Some(read + 1)
            }
            read if self.added == 0 => read,
            _ => self.estimate(id),
        }
    }

    fn estimate(&self, id: StreamId) -> Option<u64> {
        let len = self.live.len() as u64;
        if len == 0 && id <= self.last_id {
            Some(self.added)
        } else if id != StreamId::MIN && id < self.max_deleted || id > self.last_id {
            None
        } else if id == self.last_id {
            Some(self.added)
        } else if self.max_deleted != StreamId::MIN && self.max_deleted >= self.first() {
            None
        } else if id < self.first() {
            Some(self.added.saturating_sub(len))
        } else {
            (id == self.first()).then(|| self.added.saturating_sub(len) + 1)
        }
    }

    fn has_tombstone_from(&self, id: StreamId) -> bool {
        self.max_deleted != StreamId::MIN && id <= self.max_deleted
    }

    fn first(&self) -> StreamId {
        self.live.first().copied().unwrap_or(StreamId::MIN)
    }
}
