//! Who waits for which key, in which order, and until when.
//!
//! A waiter is a blocked reader. Readers without a group stand in one lane per key; readers of a
//! group in a lane of that group, so that a new entry touches only the waiters that it can serve,
//! however many others wait. Lanes keep the order of arrival, and a [`Round`] merges them into it.
//!
//! **Invariant:** a waiter leaves only through [`WaitList::remove`]. Being attempted in vain does
//! not move it: it keeps its place and its deadline.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::BinaryHeap;
use std::collections::HashMap;
use std::ops::Bound;

use crate::time::Instant;

/// Names one waiter. Smaller means that it has waited longer.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WaiterId(u64);

/// What a waiter waits for: any of some keys of one database, alone or for a consumer of a group.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wants {
    /// The database.
    pub db: usize,
    /// Its keys; none for a waiter that only waits for its deadline.
    pub keys: Vec<Box<[u8]>>,
    /// For whom a reader of a group reads.
    pub reader: Option<GroupReader>,
}

/// A consumer of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupReader {
    /// The group.
    pub group: Box<[u8]>,
    /// The consumer.
    pub consumer: Box<[u8]>,
}

/// All waiters.
#[derive(Debug, Default)]
pub struct WaitList {
    waiters: BTreeMap<WaiterId, Waiter>,
    /// By number of the database.
    databases: Vec<HashMap<Box<[u8]>, KeyQueue>>,
    deadlines: BTreeSet<(Instant, WaiterId)>,
    next: u64,
}

#[derive(Debug)]
struct Waiter {
    wants: Wants,
    deadline: Option<Instant>,
}

/// Who waits for one key.
#[derive(Debug, Default)]
struct KeyQueue {
    readers: BTreeSet<WaiterId>,
    groups: BTreeMap<Box<[u8]>, Lane>,
}

/// Who waits for one group of a key.
#[derive(Debug, Default)]
struct Lane {
    waiters: BTreeSet<WaiterId>,
    /// A consumer that waits here was deleted, or the group itself is another one; the next signal
    /// creates what is missing.
    consumer_deleted: bool,
}

impl WaitList {
    /// Adds a waiter behind all others. Without a deadline it waits for ever.
    pub fn insert(&mut self, wants: Wants, deadline: Option<Instant>) -> WaiterId {
        let id = WaiterId(self.next);
        self.next += 1;
        if self.databases.len() <= wants.db {
            self.databases.resize_with(wants.db + 1, HashMap::new);
        }
        let database = &mut self.databases[wants.db];
        for key in &wants.keys {
            let queue = database.entry(key.clone()).or_default();
            match &wants.reader {
                None => {
                    queue.readers.insert(id);
                }
                Some(GroupReader { group, .. }) => {
                    let lane = queue.groups.entry(group.clone()).or_default();
                    lane.waiters.insert(id);
                }
            }
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, id));
        }
        self.waiters.insert(id, Waiter { wants, deadline });
        id
    }

    /// Takes a waiter out and says what it wanted; `None` if it is gone already.
    pub fn remove(&mut self, id: WaiterId) -> Option<Wants> {
        let Waiter { wants, deadline } = self.waiters.remove(&id)?;
        let database = &mut self.databases[wants.db];
        for key in &wants.keys {
            // A key that was asked for twice is gone from here the second time.
            let Some(queue) = database.get_mut(key) else {
                continue;
            };
            match &wants.reader {
                None => {
                    queue.readers.remove(&id);
                }
                Some(GroupReader { group, .. }) => {
                    if let Some(lane) = queue.groups.get_mut(group) {
                        lane.waiters.remove(&id);
                        if lane.waiters.is_empty() {
                            queue.groups.remove(group);
                        }
                    }
                }
            }
            if queue.readers.is_empty() && queue.groups.is_empty() {
                database.remove(key);
            }
        }
        if let Some(deadline) = deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(wants)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiters.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    /// How many keys are waited for, and on how many of them a reader of a group waits.
    pub fn key_counts(&self) -> (usize, usize) {
        let queues = self.databases.iter().flat_map(HashMap::values);
        queues.fold((0, 0), |(keys, with_group), queue| {
            (keys + 1, with_group + usize::from(!queue.groups.is_empty()))
        })
    }

    /// How many wait until a deadline only.
    pub fn deadline_count(&self) -> usize {
        self.deadlines.len()
    }

    /// The earliest deadline.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The waiter with the earliest deadline, if that is not after `now`. It stays until removed.
    pub fn overdue(&self, now: Instant) -> Option<WaiterId> {
        let &(deadline, id) = self.deadlines.first()?;
        (deadline <= now).then_some(id)
    }

    /// The consumers that wait for `group` on `key`, the longest waiting first. One that waits twice
    /// comes twice.
    pub fn consumers(&self, db: usize, key: &[u8], group: &[u8]) -> impl Iterator<Item = &[u8]> {
        let lane = self.lane(db, key, group);
        lane.into_iter()
            .flat_map(|lane| &lane.waiters)
            .filter_map(|id| self.waiters[id].wants.reader.as_ref())
            .map(|reader| &reader.consumer[..])
    }

    /// Remembers that a consumer of `group` was deleted, in case it waits.
    pub fn on_consumer_deleted(&mut self, db: usize, key: &[u8], group: &[u8]) {
        if let Some(lane) = self.lane_mut(db, key, group) {
            lane.consumer_deleted = true;
        }
    }

    /// Remembers that `key` may hold other groups than before, whose consumers are not there.
    pub fn on_replaced(&mut self, db: usize, key: &[u8]) {
        let queue = self.databases.get_mut(db).and_then(|db| db.get_mut(key));
        for lane in queue
            .into_iter()
            .flat_map(|queue| queue.groups.values_mut())
        {
            lane.consumer_deleted = true;
        }
    }

    /// Whether a consumer of `group` was deleted since this was last asked.
    pub fn take_consumer_deleted(&mut self, db: usize, key: &[u8], group: &[u8]) -> bool {
        let lane = self.lane_mut(db, key, group);
        lane.is_some_and(|lane| std::mem::take(&mut lane.consumer_deleted))
    }

    /// The groups of `key` that somebody waits for, in byte order.
    pub fn groups(&self, db: usize, key: &[u8]) -> Vec<Box<[u8]>> {
        let queue = self.queue(db, key);
        queue.map_or_else(Vec::new, |queue| queue.groups.keys().cloned().collect())
    }

    /// Starts to go through those who wait for `key` now, the longest waiting first. Who comes
    /// later is not in this round.
    pub fn round(&self, db: usize, key: &[u8]) -> Round {
        let mut round = Round {
            end: WaiterId(self.next),
            lanes: vec![None],
            heads: BinaryHeap::new(),
            last: None,
        };
        if let Some(queue) = self.queue(db, key) {
            let readers = queue.readers.first();
            round.heads.extend(readers.map(|&id| Reverse((id, 0))));
            for (group, lane) in &queue.groups {
                let at = round.lanes.len();
                round.lanes.push(Some(group.clone()));
                let first = lane.waiters.first();
                round.heads.extend(first.map(|&id| Reverse((id, at))));
            }
        }
        round
    }

    /// The next waiter of a round that is worth an attempt. `can_serve` says whether there is
    /// anything for the readers of a group, or for those without one (`None`); the rest of a lane
    /// is left alone once there is not.
    pub fn next_of(
        &self,
        round: &mut Round,
        db: usize,
        key: &[u8],
        mut can_serve: impl FnMut(Option<&[u8]>) -> bool,
    ) -> Option<WaiterId> {
        let queue = self.queue(db, key)?;
        if let Some((id, at)) = round.last.take() {
            let lane = match &round.lanes[at] {
                None => Some(&queue.readers),
                Some(group) => queue.groups.get(group).map(|lane| &lane.waiters),
            };
            let behind = (Bound::Excluded(id), Bound::Excluded(round.end));
            let next = lane.and_then(|lane| lane.range(behind).next());
            round.heads.extend(next.map(|&next| Reverse((next, at))));
        }
        while let Some(Reverse((id, at))) = round.heads.pop() {
            if can_serve(round.lanes[at].as_deref()) {
                round.last = Some((id, at));
                return Some(id);
            }
        }
        None
    }

    fn queue(&self, db: usize, key: &[u8]) -> Option<&KeyQueue> {
        self.databases.get(db)?.get(key)
    }

    fn lane(&self, db: usize, key: &[u8], group: &[u8]) -> Option<&Lane> {
        self.queue(db, key)?.groups.get(group)
    }

    fn lane_mut(&mut self, db: usize, key: &[u8], group: &[u8]) -> Option<&mut Lane> {
        let queue = self.databases.get_mut(db)?.get_mut(key)?;
        queue.groups.get_mut(group)
    }
}

/// A walk through those who wait for one key; see [`WaitList::round`].
#[derive(Debug)]
pub struct Round {
    /// Whoever came at or after this is not in the round.
    end: WaiterId,
    /// `None` is the lane of readers without a group.
    lanes: Vec<Option<Box<[u8]>>>,
    /// The first of each lane that is not used up.
    heads: BinaryHeap<Reverse<(WaiterId, usize)>>,
    /// Whom [`WaitList::next_of`] gave last: its lane goes on behind it.
    last: Option<(WaiterId, usize)>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert {
            key: u8,
            group: Option<u8>,
            deadline: Option<u8>,
        },
        Remove(usize),
        Round {
            key: u8,
            served: Vec<bool>,
            open: [bool; 3],
        },
        Overdue(u8),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            4 => (0..3u8, prop::option::of(0..3u8), prop::option::of(0..20u8))
                .prop_map(|(key, group, deadline)| Op::Insert { key, group, deadline }),
            1 => any::<usize>().prop_map(Op::Remove),
            2 => (0..3u8, prop::collection::vec(any::<bool>(), 0..12), any::<[bool; 3]>())
                .prop_map(|(key, served, open)| Op::Round { key, served, open }),
            1 => (0..20u8).prop_map(Op::Overdue),
        ]
    }

    fn wants(key: u8, group: Option<u8>) -> Wants {
        Wants {
            db: 0,
            keys: vec![Box::new([key])],
            reader: group.map(|group| GroupReader {
                group: Box::from([group]),
                consumer: Box::from(*b"c"),
            }),
        }
    }

    proptest! {
        /// Whoever came first is attempted first, nobody is attempted whose group has nothing, and
        /// who was attempted in vain keeps its place and its deadline.
        #[test]
        fn waiters_are_attempted_in_order_of_arrival(ops in prop::collection::vec(op(), 0..60)) {
            let mut list = WaitList::default();
            let mut model: Vec<(WaiterId, u8, Option<u8>, Option<u8>)> = Vec::new();
            for op in ops {
                match op {
                    Op::Insert { key, group, deadline } => {
                        let at = deadline.map(|at| Instant(at.into()));
                        let id = list.insert(wants(key, group), at);
                        model.push((id, key, group, deadline));
                    }
                    Op::Remove(at) if !model.is_empty() => {
                        let (id, key, group, _) = model.remove(at % model.len());
                        prop_assert_eq!(list.remove(id), Some(wants(key, group)));
                        prop_assert_eq!(list.remove(id), None);
                    }
                    Op::Remove(_) => {}
                    Op::Round { key, served, open } => {
                        let expected: Vec<_> = model
                            .iter()
                            .filter(|row| row.1 == key)
                            .filter(|row| row.2.is_none_or(|group| open[usize::from(group)]))
                            .map(|row| row.0)
                            .collect();
                        let mut round = list.round(0, &[key]);
                        let mut seen = Vec::new();
                        let open = |group: Option<&[u8]>| {
                            group.is_none_or(|group| open[usize::from(group[0])])
                        };
                        while let Some(id) = list.next_of(&mut round, 0, &[key], open) {
                            if served.get(seen.len()) == Some(&true) {
                                list.remove(id);
                                model.retain(|row| row.0 != id);
                            }
                            seen.push(id);
                        }
                        prop_assert_eq!(seen, expected);
                    }
                    Op::Overdue(now) => {
                        let first = model.iter().filter_map(|row| Some((row.3?, row.0))).min();
                        let due = first.filter(|&(at, _)| at <= now).map(|(_, id)| id);
                        prop_assert_eq!(list.overdue(Instant(now.into())), due);
                    }
                }
                prop_assert_eq!(list.len(), model.len());
            }
        }
    }

    #[test]
    fn a_key_asked_for_twice_is_left_whole_when_its_waiter_goes() {
        let mut list = WaitList::default();
        let id = list.insert(
            Wants {
                db: 2,
                keys: vec![Box::from(*b"k"), Box::from(*b"k")],
                reader: None,
            },
            None,
        );
        assert_eq!(list.key_counts(), (1, 0));
        assert!(list.remove(id).is_some());
        assert_eq!(list.key_counts(), (0, 0));
    }

    #[test]
    fn who_comes_during_a_round_is_not_in_it() {
        let mut list = WaitList::default();
        let first = list.insert(wants(1, None), None);
        let mut round = list.round(0, &[1]);
        assert_eq!(list.next_of(&mut round, 0, &[1], |_| true), Some(first));
        list.insert(wants(1, None), None);
        assert_eq!(list.next_of(&mut round, 0, &[1], |_| true), None);
    }
}
