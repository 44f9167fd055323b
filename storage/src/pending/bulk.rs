//! Many entries at once, as groups deliver them and consumers acknowledge them.

use super::{Pending, PendingEntry, Tidied};
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
        let mut count = 0;
        // The place after the last one that was found.
        let mut next = (0, 0);
        for id in ids {
            let Some((run, at)) = self.find_at(next, id).or_else(|| self.locate(id)) else {
                continue;
            };
            count += 1;
            let slot = self.runs[run].slots().get(at);
            self.runs[run].kill(at);
            self.count_out(&slot);
            next = match self.tidy(run) {
                Tidied::Kept if at + 1 < self.runs[run].slots().len() => (run, at + 1),
                Tidied::Kept => (run + 1, 0),
                Tidied::Gone => (run, 0),
            };
        }
        count
    }

    /// Returns the place if it has a living entry with this ID.
    #[inline]
    fn find_at(&self, (run, at): (usize, usize), id: StreamId) -> Option<(usize, usize)> {
        let slots = self.runs.get(run)?.slots();
        let found = at < slots.len() && slots.id(at) == id && slots.is_live(at);
        found.then_some((run, at))
    }
}
