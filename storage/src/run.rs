//! A run: up to 128 neighbouring pending entries, and what holds for all of them.
//!
//! The summary lets a search pass over a whole run: nothing in it was delivered before `oldest`,
//! and nothing in it belongs to a consumer whose bit is not set in `consumers`. Both are bounds.
//! They get loose when entries leave, since looking for the next oldest would cost more than it
//! saves, and tight again whenever the run is gone through anyway.

use std::iter::Peekable;

use crate::id::StreamId;
use crate::slots::{Slot, Slots};
use crate::time::UnixMillis;

/// Most entries in a run: small enough to search and to move within a microsecond, large enough
/// for the directory of runs to stay small.
pub(crate) const RUN_ENTRIES_MAX: usize = 128;

/// Slots that the first run of a group has room for.
const FIRST_SLOTS: usize = 4;

/// Runs shorter than this are not worth compacting.
const COMPACT_ENTRIES_MIN: usize = 32;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// A copy of the first slot's ID, so that the directory is searched without going there.
    first: StreamId,
    slots: Slots,
    oldest: UnixMillis,
    consumers: u64,
    live: u32,
}

impl Run {
    /// Makes a run that has room for a few entries, or for as many as a run may have.
    pub(crate) fn new(slot: Slot, room: Room) -> Self {
        let room = match room {
            Room::Few => FIRST_SLOTS,
            Room::Full => RUN_ENTRIES_MAX,
        };
        Self {
            first: slot.id,
            slots: Slots::new(slot, room),
            oldest: slot.delivered_at,
            consumers: Self::bit(slot.consumer),
            live: 1,
        }
    }

    /// Adds slots behind all others until there are no more IDs or no more room; but for the IDs they are like one.
    /// Returns how many those were.
    pub(crate) fn extend(
        &mut self,
        like: Slot,
        ids: &mut impl Iterator<Item = StreamId>,
        count_max: usize,
    ) -> usize {
        let before = self.slots.len();
        let count_max = count_max.min(RUN_ENTRIES_MAX.saturating_sub(before));
        self.grow(count_max);
        self.slots.extend(like, ids.take(count_max));
        let count = self.slots.len() - before;
        self.live += u32::try_from(count).expect("a run has few slots");
        self.cover(like);
        count
    }

    /// Adds a slot behind all others.
    pub(crate) fn push(&mut self, slot: Slot) {
        debug_assert!(slot.id > self.last());
        self.grow(1);
        self.slots.push(slot);
        self.live += 1;
        self.cover(slot);
    }

    /// Puts a slot whose ID is not here at its place.
    pub(crate) fn insert(&mut self, slot: Slot) {
        let at = self.seek(slot.id);
        self.grow(1);
        self.slots.insert(at, slot);
        self.first = self.slots.id(0);
        self.live += 1;
        self.cover(slot);
    }

    /// Replaces the slot with the same ID, living or dead. The summary may get loose.
    pub(crate) fn replace(&mut self, at: usize, slot: Slot) {
        let old = self.slots.get(at);
        debug_assert_eq!(old.id, slot.id);
        self.slots.set(at, slot);
        self.live += u32::from(!old.is_live());
        self.cover(slot);
    }

    /// Replaces a living slot by one that has its ID. The summary is to be made exact after it.
    pub(crate) fn set(&mut self, at: usize, slot: Slot) {
        debug_assert!(self.slots.get(at).is_live() && self.slots.id(at) == slot.id);
        self.slots.set(at, slot);
    }

    /// Marks the entry at this place as gone.
    pub(crate) fn kill(&mut self, at: usize) {
        debug_assert!(self.slots.get(at).is_live());
        self.slots.kill(at);
        self.live -= 1;
    }

    /// Marks entries from a place on as gone, for as long as they are living and have the IDs that come next; tells what each
    /// was.
    #[inline]
    pub(crate) fn kill_next(
        &mut self,
        at: usize,
        ids: &mut Peekable<impl Iterator<Item = StreamId>>,
        mut killed: impl FnMut(&Slot),
    ) {
        let live = &mut self.live;
        self.slots.kill_next(at, ids, |slot| {
            *live -= 1;
            killed(slot);
        });
    }

    /// Makes the bounds of the summary exact.
    pub(crate) fn tighten(&mut self) {
        let (mut oldest, mut consumers) = (UnixMillis(u64::MAX), 0);
        for slot in self.live_slots() {
            oldest = oldest.min(slot.delivered_at);
            consumers |= Self::bit(slot.consumer);
        }
        (self.oldest, self.consumers) = (oldest, consumers);
    }

    /// Drops dead slots, and the memory they took if `shrink` says so.
    pub(crate) fn compact(&mut self, shrink: Shrink) {
        debug_assert!(self.live > 0);
        self.slots.retain_live();
        self.first = self.slots.id(0);
        if shrink == Shrink::ToFit {
            self.slots.shrink_to_fit();
        }
        self.tighten();
    }

    /// Cuts the run in two halves and returns the upper one.
    pub(crate) fn split(&mut self) -> Self {
        let middle = self.slots.len() / 2;
        let mut slots = Slots::new(self.slots.get(middle), RUN_ENTRIES_MAX);
        for slot in self.slots.iter_from(middle + 1) {
            slots.push(slot);
        }
        self.slots.truncate(middle);

        let live = count_live(&slots);
        self.live -= live;
        let mut upper = Self {
            first: slots.id(0),
            slots,
            oldest: self.oldest,
            consumers: self.consumers,
            live,
        };
        upper.tighten();
        self.tighten();
        upper
    }

    /// Takes over the slots of the run behind it.
    pub(crate) fn absorb(&mut self, next: &Self) {
        debug_assert!(next.first > self.last());
        for slot in next.live_slots() {
            self.slots.push(slot);
        }
        self.live += next.live;
        self.oldest = self.oldest.min(next.oldest);
        self.consumers |= next.consumers;
    }

    /// The place of an ID, living or dead, or where it would belong.
    pub(crate) fn find(&self, id: StreamId) -> Result<usize, usize> {
        let at = self.seek(id);
        if at < self.slots.len() && self.slots.id(at) == id {
            Ok(at)
        } else {
            Err(at)
        }
    }

    /// The place of the first slot that is not below `id`.
    pub(crate) fn seek(&self, id: StreamId) -> usize {
        if id <= self.first {
            return 0;
        }
        self.slots.seek(id)
    }

    /// Whether so many slots are dead that they should go.
    pub(crate) fn is_sparse(&self) -> bool {
        self.slots.len() >= COMPACT_ENTRIES_MIN && self.live as usize * 4 <= self.slots.len()
    }

    /// Whether no slot can be added, dead ones counted.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() >= RUN_ENTRIES_MAX
    }

    /// The bits of all consumers that have entries here.
    pub(crate) fn consumers(&self) -> u64 {
        self.consumers
    }

    /// Whether an entry of this consumer may be here.
    pub(crate) fn may_hold(&self, consumer: u32) -> bool {
        self.consumers & Self::bit(consumer) != 0
    }

    /// No entry here was delivered before this.
    pub(crate) fn oldest(&self) -> UnixMillis {
        self.oldest
    }

    /// No ID here is below this one.
    pub(crate) fn first(&self) -> StreamId {
        self.first
    }

    /// No ID here is above this one.
    pub(crate) fn last(&self) -> StreamId {
        self.slots.id(self.slots.len() - 1)
    }

    /// Living entries.
    pub(crate) fn live(&self) -> usize {
        self.live as usize
    }

    /// Living entries from this place on.
    pub(crate) fn live_from(&self, at: usize) -> usize {
        match at {
            0 => self.live(),
            _ => self.slots.live_from(at),
        }
    }

    /// All slots, living and dead.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The living ones.
    pub(crate) fn live_slots(&self) -> impl DoubleEndedIterator<Item = Slot> + '_ {
        self.slots.iter_from(0).filter(Slot::is_live)
    }

    /// The bytes of memory held, beside the value itself.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    /// Panics if the run contradicts itself.
    pub(crate) fn check(&self) {
        assert!(self.slots.iter_from(0).is_sorted_by(|a, b| a.id < b.id));
        assert!(self.slots.len() <= RUN_ENTRIES_MAX);
        assert_eq!(self.first, self.slots.id(0));
        assert_eq!(self.live, count_live(&self.slots));
        assert!(self.live > 0, "an empty run was kept");
        for slot in self.live_slots() {
            assert!(self.oldest <= slot.delivered_at);
            assert!(self.may_hold(slot.consumer));
        }
    }

    /// The consumer's bit in [`Self::consumers`].
    pub(crate) fn bit(consumer: u32) -> u64 {
        1 << (consumer % 64)
    }

    /// Makes room for some more slots: twice the room at least, but never more than a run can use.
    fn grow(&mut self, more: usize) {
        let len = self.slots.len();
        if len + more > self.slots.capacity() {
            let room = (len * 2).clamp(FIRST_SLOTS, RUN_ENTRIES_MAX);
            self.slots.reserve_exact(room.max(len + more) - len);
        }
    }

    fn cover(&mut self, slot: Slot) {
        self.oldest = self.oldest.min(slot.delivered_at);
        self.consumers |= Self::bit(slot.consumer);
    }
}

/// How many more entries a new run is expected to take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Room {
    /// It is the first one of a group, and most groups have little in flight.
    Few,
    /// It follows a full one.
    Full,
}

/// What becomes of memory that [`Run::compact`] no longer needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shrink {
    /// It is kept, since more entries are about to come.
    Keep,
    /// It is given back.
    ToFit,
}

fn count_live(slots: &Slots) -> u32 {
    u32::try_from(slots.live_from(0)).expect("a run has few slots")
}
