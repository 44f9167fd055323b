//! The pending entries of a group: delivered, and neither acknowledged nor dropped yet.
//!
//! They lie in runs in the order of their IDs, and the runs in an ordered directory. IDs come in
//! order and leave near the front, so that adding is a push at the end and removing two binary
//! searches and a mark. The same structure answers by ID, by consumer and by idle time, and counts
//! for each consumer, so that no count beside it can drift away.

mod bulk;
mod walk;

use std::collections::{BTreeMap, VecDeque};

use crate::id::StreamId;
use crate::run::{RUN_ENTRIES_MAX, Room, Run, Shrink};
use crate::slots::Slot;
use crate::time::{Millis, UnixMillis};

pub(crate) use walk::{RunFacts, Verdict, Visitor};

/// Names a consumer within its group, for as long as the consumer exists.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConsumerIndex(pub(crate) u32);

impl ConsumerIndex {
    pub(crate) fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// An entry that was delivered and not acknowledged yet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PendingEntry {
    /// The entry's ID; the entry itself may have left the log since.
    pub id: StreamId,
    /// Who has it.
    pub consumer: ConsumerIndex,
    /// When it was last delivered.
    pub delivered_at: UnixMillis,
    /// How often it was delivered.
    pub deliveries: u64,
}

impl PendingEntry {
    /// Time since the last delivery; none if the clock stepped back since.
    #[must_use]
    pub fn idle(&self, now: UnixMillis) -> Millis {
        now.since(self.delivered_at)
    }
}

/// Which pending entries to look at. The default is all of them.
#[derive(Clone, Copy, Debug)]
pub struct PendingFilter {
    /// The lowest ID.
    pub from: StreamId,
    /// The highest ID.
    pub to: StreamId,
    /// Only what this consumer has.
    pub consumer: Option<ConsumerIndex>,
    /// Only what is idle for so long.
    pub idle: IdleFilter,
}

impl Default for PendingFilter {
    fn default() -> Self {
        Self {
            from: StreamId::MIN,
            to: StreamId::MAX,
            consumer: None,
            idle: IdleFilter::default(),
        }
    }
}

/// Admits what was delivered at least `min` before `now`. The default admits everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleFilter {
    /// The time that idle times end at.
    pub now: UnixMillis,
    /// The least idle time; zero admits everything.
    pub min: Millis,
}

impl IdleFilter {
    pub(crate) fn admits(self, delivered_at: UnixMillis) -> bool {
        self.now.since(delivered_at) >= self.min
    }
}

/// See the module's documentation.
///
/// Invariant: no run is empty, and every ID of a run is below every ID of the next.
#[derive(Debug, Default)]
pub struct Pending {
    runs: VecDeque<Run>,
    len: usize,
    /// Invariant: the sum is `len`.
    counts: Vec<u64>,
    /// Delivery counts that do not fit into 32 bits.
    ///
    /// Invariant: holds exactly the IDs whose slot says [`Slot::MANY`].
    many: BTreeMap<StreamId, u64>,
    /// Invariant: what all runs hold together.
    run_bytes: usize,
    /// Invariant: nothing was delivered before, if there is anything.
    oldest: UnixMillis,
    /// How many runs may have lost what was oldest since it was looked for.
    aged_runs: usize,
}

impl Pending {
    /// Adds an entry, or replaces the one with its ID, which is returned.
    ///
    /// Costs little more than a push when the ID is above all others.
    pub fn insert(&mut self, entry: PendingEntry) -> Option<PendingEntry> {
        match self.runs.back() {
            Some(run) if entry.id <= run.last() => return self.insert_within(entry),
            Some(_) => {
                let slot = self.count_in(entry);
                self.push_behind(self.runs.len() - 1, slot);
            }
            None => {
                let slot = self.count_in(entry);
                self.add_run(0, Run::new(slot, Room::Few));
            }
        }
        None
    }

    /// Takes an entry out.
    pub fn remove(&mut self, id: StreamId) -> Option<PendingEntry> {
        let (run, at) = self.locate(id)?;
        let slot = self.runs[run].slots().get(at);
        let entry = self.decode(&slot);
        self.runs[run].kill(at);
        self.count_out(&slot);
        self.tidy(run);
        Some(entry)
    }

    /// The entry with this ID.
    #[must_use]
    pub fn get(&self, id: StreamId) -> Option<PendingEntry> {
        let (run, at) = self.locate(id)?;
        Some(self.decode(&self.runs[run].slots().get(at)))
    }

    /// The entries that the filter admits, lowest ID first. Passes over whole runs that hold none.
    pub fn iter(&self, filter: PendingFilter) -> impl Iterator<Item = PendingEntry> + '_ {
        let start = match filter.idle.admits(self.oldest) {
            true => self.run_of(filter.from).unwrap_or(0),
            false => self.runs.len(),
        };
        self.runs
            .range(start..)
            .take_while(move |run| run.first() <= filter.to)
            .filter(move |run| {
                filter.consumer.is_none_or(|of| run.may_hold(of.0))
                    && filter.idle.admits(run.oldest())
            })
            .flat_map(move |run| run.slots().iter_from(run.seek(filter.from)))
            .take_while(move |slot| slot.id <= filter.to)
            .filter(move |slot| {
                slot.is_live()
                    && filter.consumer.is_none_or(|of| of.0 == slot.consumer)
                    && filter.idle.admits(slot.delivered_at)
            })
            .map(|slot| self.decode(&slot))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of entries that a consumer has.
    #[must_use]
    pub fn count_of(&self, consumer: ConsumerIndex) -> u64 {
        self.counts.get(consumer.as_usize()).map_or(0, |&n| n)
    }

    /// The lowest ID.
    #[must_use]
    pub fn first_id(&self) -> Option<StreamId> {
        let mut slots = self.runs.front()?.live_slots();
        slots.next().map(|slot| slot.id)
    }

    /// The highest ID.
    #[must_use]
    pub fn last_id(&self) -> Option<StreamId> {
        let mut slots = self.runs.back()?.live_slots();
        slots.next_back().map(|slot| slot.id)
    }

    /// Memory held, without the value itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.run_bytes
            + self.runs.capacity() * size_of::<Run>()
            + self.counts.capacity() * size_of::<u64>()
            + self.many.len() * MANY_ENTRY_BYTES
    }

    /// Panics if the structure contradicts itself. For tests; looks at every entry.
    pub fn check(&self) {
        let mut last = None;
        let mut counts = vec![0; self.counts.len()];
        let mut many = 0;
        for run in &self.runs {
            run.check();
            assert!(self.oldest <= run.oldest());
            assert!(last < Some(run.first()), "runs overlap");
            last = Some(run.last());
            for slot in run.live_slots() {
                counts[slot.consumer as usize] += 1;
                if slot.deliveries == Slot::MANY {
                    assert!(self.many.contains_key(&slot.id));
                    many += 1;
                }
            }
        }
        assert_eq!(counts, self.counts);
        assert_eq!(counts.iter().sum::<u64>(), self.len as u64);
        assert_eq!(many, self.many.len());
        let held = self.runs.iter().map(Run::bytes).sum::<usize>();
        assert_eq!(held, self.run_bytes);
    }

    /// Inserts an ID that is not above all others: a claim by force, or a group that was set back.
    fn insert_within(&mut self, entry: PendingEntry) -> Option<PendingEntry> {
        let run = self.run_of(entry.id).unwrap_or(0);
        let place = self.runs[run].find(entry.id);
        if let Ok(at) = place {
            let old = self.runs[run].slots().get(at);
            let replaced = old.is_live().then(|| self.decode(&old));
            if old.is_live() {
                self.count_out(&old);
            }
            let slot = self.count_in(entry);
            self.change(run, |run| {
                run.replace(at, slot);
                if old.is_live() && old.delivered_at == run.oldest() {
                    run.tighten();
                }
            });
            return replaced;
        }
        let slot = self.count_in(entry);
        if place == Err(self.runs[run].slots().len()) {
            self.push_behind(run, slot);
            return None;
        }
        let into = match self.make_room(run) {
            Some(upper) if slot.id >= upper => run + 1,
            _ => run,
        };
        self.change(into, |run| run.insert(slot));
        None
    }

    /// Adds a slot at the end of a run, or in a new run behind it.
    fn push_behind(&mut self, run: usize, slot: Slot) {
        let current = &self.runs[run];
        if !current.is_full() {
            self.change(run, |run| run.push(slot));
        } else if current.live() <= RUN_ENTRIES_MAX / 2 {
            self.change(run, |run| {
                run.compact(Shrink::Keep);
                run.push(slot);
            });
        } else {
            self.add_run(run + 1, Run::new(slot, Room::Full));
        }
    }

    /// Makes room for one more slot, if need be by splitting the run: then returns where the new
    /// one, right behind it, begins.
    fn make_room(&mut self, run: usize) -> Option<StreamId> {
        let current = &self.runs[run];
        if !current.is_full() {
            return None;
        }
        // Splitting could leave one half with dead slots alone.
        if current.live() <= RUN_ENTRIES_MAX * 3 / 4 {
            self.change(run, |run| run.compact(Shrink::Keep));
            return None;
        }
        let upper = self.change(run, Run::split);
        let begin = upper.first();
        self.add_run(run + 1, upper);
        Some(begin)
    }

    /// Drops a run that got empty, and packs one that got sparse.
    fn tidy(&mut self, run: usize) -> Tidied {
        let current = &self.runs[run];
        if current.live() == 0 {
            self.run_bytes -= current.bytes();
            self.runs.remove(run);
            self.note_aged();
            return Tidied::Gone;
        }
        if !current.is_sparse() {
            return Tidied::Kept;
        }
        let is_last = run + 1 == self.runs.len();
        let shrink = if is_last { Shrink::Keep } else { Shrink::ToFit };
        self.change(run, |run| run.compact(shrink));
        let joined = self.runs[run].slots().len();
        let has_room = |before: &Run| before.slots().len() + joined <= RUN_ENTRIES_MAX / 2;
        if run == 0 || is_last || !has_room(&self.runs[run - 1]) {
            return Tidied::Kept;
        }
        if let Some(next) = self.runs.remove(run) {
            self.run_bytes -= next.bytes();
            self.change(run - 1, |run| run.absorb(&next));
        }
        Tidied::Gone
    }

    /// Works on a run and keeps `run_bytes` right.
    fn change<T>(&mut self, run: usize, work: impl FnOnce(&mut Run) -> T) -> T {
        let run = &mut self.runs[run];
        self.run_bytes -= run.bytes();
        let result = work(run);
        self.run_bytes += run.bytes();
        result
    }

    /// Notes that a run may have lost what was oldest. Looks for it once all have, as it were, so that this costs little.
    fn note_aged(&mut self) {
        self.aged_runs += 1;
        if self.aged_runs > self.runs.len() {
            let oldest = self.runs.iter().map(Run::oldest).min();
            self.oldest = oldest.unwrap_or(UnixMillis(u64::MAX));
            self.aged_runs = 0;
        }
    }

    fn add_run(&mut self, at: usize, run: Run) {
        self.run_bytes += run.bytes();
        self.runs.insert(at, run);
    }

    /// The last run that begins at or below this ID.
    fn run_of(&self, id: StreamId) -> Option<usize> {
        self.runs
            .partition_point(|run| run.first() <= id)
            .checked_sub(1)
    }

    /// The run and the place in it of a living entry.
    fn locate(&self, id: StreamId) -> Option<(usize, usize)> {
        let run = self.run_of(id)?;
        let at = self.runs[run].find(id).ok()?;
        self.runs[run]
            .slots()
            .get(at)
            .is_live()
            .then_some((run, at))
    }

    /// Counts an entry that comes in and encodes it.
    fn count_in(&mut self, entry: PendingEntry) -> Slot {
        let consumer = entry.consumer.as_usize();
        if consumer >= self.counts.len() {
            self.counts.resize(consumer + 1, 0);
        }
        self.counts[consumer] += 1;
        self.len += 1;
        self.oldest = match self.len {
            1 => entry.delivered_at,
            _ => self.oldest.min(entry.delivered_at),
        };
        let deliveries = u32::try_from(entry.deliveries).unwrap_or(Slot::MANY);
        if deliveries == Slot::MANY {
            self.many.insert(entry.id, entry.deliveries);
        }
        Slot {
            id: entry.id,
            delivered_at: entry.delivered_at,
            consumer: entry.consumer.0,
            deliveries,
        }
    }

    fn count_out(&mut self, slot: &Slot) {
        self.counts[slot.consumer as usize] -= 1;
        self.len -= 1;
        if slot.deliveries == Slot::MANY {
            self.many.remove(&slot.id);
        }
    }

    fn decode(&self, slot: &Slot) -> PendingEntry {
        let deliveries = match slot.deliveries {
            Slot::MANY => self.many.get(&slot.id).map_or(0, |&n| n),
            n => u64::from(n),
        };
        PendingEntry {
            id: slot.id,
            consumer: ConsumerIndex(slot.consumer),
            delivered_at: slot.delivered_at,
            deliveries,
        }
    }
}

impl Clone for Pending {
    fn clone(&self) -> Self {
        let runs = self.runs.clone();
        Self {
            // The copies of the runs hold no more memory than they need.
            run_bytes: runs.iter().map(Run::bytes).sum(),
            runs,
            len: self.len,
            counts: self.counts.clone(),
            many: self.many.clone(),
            oldest: self.oldest,
            aged_runs: self.aged_runs,
        }
    }
}

/// What [`Pending::tidy`] did with a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tidied {
    /// It is where it was.
    Kept,
    /// It was dropped or became part of the one before: the next run has its place now.
    Gone,
}

/// About what a B-tree takes for one of the rare large counts.
const MANY_ENTRY_BYTES: usize = 48;

#[cfg(test)]
mod tests;
