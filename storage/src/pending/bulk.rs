//! Many entries at once, as groups deliver them and consumers acknowledge them.

use std::iter::Peekable;

use super::{Pending, PendingEntry};
use crate::id::StreamId;
use crate::slots::Slot;

impl Pending {
    /// Adds `count` entries that are alike but for their IDs, which ascend. Each replaces the one with its ID. Returns
    /// the last ID.
    pub(crate) fn insert_all(
        &mut self,
        like: PendingEntry,
        ids: impl Iterator<Item = StreamId>,
        mut count: usize,
    ) -> Option<StreamId> {
        let mut last = None;
        let mut ids = ids.take(count).inspect(|&id| last = Some(id)).peekable();
        while let Some(&id) = ids.peek() {
            let like = PendingEntry { id, ..like };
            let is_above = self.runs.back().is_some_and(|run| run.last() < id);
            let added = match is_above && like.deliveries < u64::from(Slot::MANY) {
                true => self.extend_last_run(like, &mut ids, count),
                false => 0,
            };
            count -= added;
            if added == 0 {
                ids.next();
                self.insert(like);
                count -= 1;
            }
        }
        drop(ids);
        last
    }

    /// Adds entries above all others to the last run, as far as it has room, and returns how many. The first of them
    /// is given.
    fn extend_last_run(
        &mut self,
        first: PendingEntry,
        ids: &mut impl Iterator<Item = StreamId>,
        count_max: usize,
    ) -> usize {
        let last = self.runs.len() - 1;
        if self.runs[last].is_full() {
            return 0;
        }
        let slot = self.count_in(first);
        let added = self.change(last, |run| run.extend(slot, ids, count_max));
        self.counts[first.consumer.as_usize()] += added as u64 - 1;
        self.len += added - 1;
        added
    }

    /// Takes entries out, and returns how many there were. It is faster if IDs follow each other.
    pub(crate) fn remove_all(&mut self, ids: impl IntoIterator<Item = StreamId>) -> u64 {
        let before = self.len;
        let mut ids = ids.into_iter().peekable();
        while let Some(&id) = ids.peek() {
            match self.locate(id) {
                Some((run, at)) => self.remove_from(run, at, &mut ids),
                None => drop(ids.next()),
            }
        }
        (before - self.len) as u64
    }

    /// Takes out what lies in a run from a place on, for as long as these are the IDs that come next. The first one is.
    fn remove_from(
        &mut self,
        run: usize,
        at: usize,
        ids: &mut Peekable<impl Iterator<Item = StreamId>>,
    ) {
        let Self {
            runs,
            counts,
            len,
            many,
            ..
        } = self;
        runs[run].kill_next(at, ids, |slot| {
            counts[slot.consumer as usize] -= 1;
            *len -= 1;
            if slot.deliveries == Slot::MANY {
                many.remove(&slot.id);
            }
        });
        self.tidy(run);
    }
}
