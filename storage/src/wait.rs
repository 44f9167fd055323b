//! Who waits for which key, in which order, and until when.
//!
//! A waiter is a blocked reader. Readers without a group stand in one lane per key; readers of a
//! group in a lane of that group, so that a new entry touches only the waiters that it can serve,
//! however many others wait. Lanes keep the order of places, and a [`Round`] merges them into it.
//!
//! **Invariant:** a waiter leaves only through [`WaitList::remove`]. Being attempted in vain changes
//! neither its deadline nor its place among those who wait for that key. Since the reference has it
//! stand in line again for all that it waits for, [`WaitList::stand_again`] moves it behind the
//! others who wait for its other keys.

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

/// A place among those who wait for a key. Smaller comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Place(u64);

/// Waiters by their places.
type Places = BTreeMap<Place, WaiterId>;

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
    /// Its place for each of the keys; the same one where a key comes twice.
    places: Vec<Place>,
    deadline: Option<Instant>,
}

/// Who waits for one key.
#[derive(Debug, Default)]
struct KeyQueue {
    /// Those without a group.
    readers: Lane,
    groups: BTreeMap<Box<[u8]>, Lane>,
}

/// Who waits for one group of a key, or for the key alone.
#[derive(Debug, Default)]
struct Lane {
    waiters: Places,
    /// Those of them who wait for other keys, too.
    with_more: Places,
    /// A consumer that waits here was deleted, or the group itself is another one; the next signal
    /// creates what is missing.
    consumer_deleted: bool,
}

impl WaitList {
    /// Adds a waiter behind all others. Without a deadline it waits for ever.
    pub fn insert(&mut self, wants: Wants, deadline: Option<Instant>) -> WaiterId {
        let id = WaiterId(self.next);
        let place = Place(self.next);
        self.next += 1;
        if self.databases.len() <= wants.db {
            self.databases.resize_with(wants.db + 1, HashMap::new);
        }
        let database = &mut self.databases[wants.db];
        for key in &wants.keys {
            let queue = database.entry(key.clone()).or_default();
            queue.insert(&wants, place, id);
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, id));
        }
        let waiter = Waiter {
            places: vec![place; wants.keys.len()],
            wants,
            deadline,
        };
        self.waiters.insert(id, waiter);
        id
    }

    /// Takes a waiter out and says what it wanted; `None` if it is gone already.
    pub fn remove(&mut self, id: WaiterId) -> Option<Wants> {
        let Waiter {
            wants,
            places,
            deadline,
        } = self.waiters.remove(&id)?;
        let database = &mut self.databases[wants.db];
        for (key, &place) in wants.keys.iter().zip(&places) {
            // A key that was asked for twice is gone from here the second time.
            let Some(queue) = database.get_mut(key) else {
                continue;
            };
            queue.remove(&wants, place);
            if queue.is_empty() {
                database.remove(key);
            }
        }
        if let Some(deadline) = deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(wants)
    }

    /// Those who wait for `key` were attempted and still wait: has those of them who wait for other
    /// keys, too, stand behind all others there.
    pub fn stand_again(&mut self, db: usize, key: &[u8]) {
        let Some(queue) = self.queue(db, key) else {
            return;
        };
        let lanes = queue.groups.values().chain([&queue.readers]);
        let moved: Places = lanes.flat_map(|lane| lane.with_more.clone()).collect();
        for id in moved.into_values() {
            let place = Place(self.next);
            self.next += 1;
            let waiter = self
                .waiters
                .get_mut(&id)
                .expect("who stands somewhere waits");
            for (other, old) in waiter.wants.keys.iter().zip(&mut waiter.places) {
                if &**other != key
                    && *old != place
                    && let Some(queue) = self.databases[db].get_mut(other)
                {
                    // In this order, so that a lane with nobody else in it stays.
                    queue.insert(&waiter.wants, place, id);
                    queue.remove(&waiter.wants, *old);
                    *old = place;
                }
            }
        }
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
            .flat_map(|lane| lane.waiters.values())
            .filter_map(|id| self.waiters[id].wants.reader.as_ref())
            .map(|reader| &reader.consumer[..])
    }

    /// How many wait for `group` on `key` and for nothing else.
    pub fn single_readers(&self, db: usize, key: &[u8], group: &[u8]) -> usize {
        let lane = self.lane(db, key, group);
        lane.map_or(0, |lane| lane.waiters.len() - lane.with_more.len())
    }

    /// Those who wait for `key` without a group, the longest waiting first.
    pub fn readers(&self, db: usize, key: &[u8]) -> Vec<WaiterId> {
        let queue = self.queue(db, key);
        queue.map_or_else(Vec::new, |queue| {
            queue.readers.waiters.values().copied().collect()
        })
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

    /// The keys of a database that readers of groups wait for, in no particular order.
    pub fn keys_with_groups(&self, db: usize) -> Vec<Box<[u8]>> {
        let queues = self.databases.get(db).into_iter().flatten();
        queues
            .filter(|(_, queue)| !queue.groups.is_empty())
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Starts to go through those who wait for `key` now, the longest waiting first. Who comes
    /// later is not in this round.
    pub fn round(&self, db: usize, key: &[u8]) -> Round {
        let mut round = Round {
            end: Place(self.next),
            lanes: vec![None],
            heads: BinaryHeap::new(),
            last: None,
        };
        if let Some(queue) = self.queue(db, key) {
            let readers = queue.readers.waiters.first_key_value();
            round
                .heads
                .extend(readers.map(|(&place, _)| Reverse((place, 0))));
            for (group, lane) in &queue.groups {
                let at = round.lanes.len();
                round.lanes.push(Some(group.clone()));
                let first = lane.waiters.first_key_value();
                round
                    .heads
                    .extend(first.map(|(&place, _)| Reverse((place, at))));
            }
        }
        round
    }

    /// The next waiter of a round that is worth an attempt. `can_serve` says whether there is
    /// anything for the readers of a group, or for those without one (`None`). Once there is not, the
    /// rest of a lane is left alone, but for readers of a group who wait for other keys, too: an
    /// attempt shows there, and may find something that nobody was told of.
    pub fn next_of(
        &self,
        round: &mut Round,
        db: usize,
        key: &[u8],
        mut can_serve: impl FnMut(Option<&[u8]>) -> bool,
    ) -> Option<WaiterId> {
        let queue = self.queue(db, key)?;
        let lane_at = |round: &Round, at: usize| match &round.lanes[at] {
            None => Some(&queue.readers),
            Some(group) => queue.groups.get(group),
        };
        if let Some((place, at)) = round.last.take() {
            let behind = (Bound::Excluded(place), Bound::Excluded(round.end));
            let lane = lane_at(round, at);
            let next = lane.and_then(|lane| lane.waiters.range(behind).next());
            round
                .heads
                .extend(next.map(|(&place, _)| Reverse((place, at))));
        }
        while let Some(Reverse((place, at))) = round.heads.pop() {
            let Some(lane) = lane_at(round, at) else {
                continue;
            };
            let group = round.lanes[at].as_deref();
            if can_serve(group) || (group.is_some() && lane.with_more.contains_key(&place)) {
                round.last = Some((place, at));
                return lane.waiters.get(&place).copied();
            }
            if group.is_some() {
                let behind = (Bound::Excluded(place), Bound::Excluded(round.end));
                let next = lane.with_more.range(behind).next();
                round
                    .heads
                    .extend(next.map(|(&place, _)| Reverse((place, at))));
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

impl KeyQueue {
    fn insert(&mut self, wants: &Wants, place: Place, id: WaiterId) {
        let lane = match &wants.reader {
            None => &mut self.readers,
            Some(GroupReader { group, .. }) => self.groups.entry(group.clone()).or_default(),
        };
        lane.waiters.insert(place, id);
        if wants.keys.len() > 1 {
            lane.with_more.insert(place, id);
        }
    }

    fn remove(&mut self, wants: &Wants, place: Place) {
        let Some(GroupReader { group, .. }) = &wants.reader else {
            return self.readers.remove(place);
        };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.remove(place);
            if lane.waiters.is_empty() {
                self.groups.remove(group);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.readers.waiters.is_empty() && self.groups.is_empty()
    }
}

impl Lane {
    fn remove(&mut self, place: Place) {
        self.waiters.remove(&place);
        self.with_more.remove(&place);
    }
}

/// A walk through those who wait for one key; see [`WaitList::round`].
#[derive(Debug)]
pub struct Round {
    /// Whoever came at or after this is not in the round.
    end: Place,
    /// `None` is the lane of readers without a group.
    lanes: Vec<Option<Box<[u8]>>>,
    /// The first of each lane that is not used up.
    heads: BinaryHeap<Reverse<(Place, usize)>>,
    /// Whom [`WaitList::next_of`] gave last: its lane goes on behind it.
    last: Option<(Place, usize)>,
}

#[cfg(test)]
mod tests;
