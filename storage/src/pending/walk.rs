//! Going through pending entries and changing them on the way.

use super::{ConsumerIndex, Pending, PendingEntry, Tidied};
use crate::id::StreamId;
use crate::run::Run;
use crate::slots::Slot;
use crate::time::UnixMillis;

impl Pending {
    /// Shows entries from `from` on to the visitor, in order, and does with each what it says.
    /// Returns the ID that it stopped at, if it did.
    pub(crate) fn walk(&mut self, from: StreamId, visitor: &mut impl Visitor) -> Option<StreamId> {
        let mut run = self.run_of(from).unwrap_or(0);
        while let Some(current) = self.runs.get(run) {
            let start = current.seek(from);
            if start == current.slots().len() || visitor.passes_over(RunFacts::of(current, start)) {
                run += 1;
                continue;
            }
            let stopped = self.walk_run(run, start, visitor);
            if stopped.is_some() {
                self.tidy(run);
                return stopped;
            }
            if self.tidy(run) == Tidied::Kept {
                run += 1;
            }
        }
        None
    }

    fn walk_run(
        &mut self,
        run: usize,
        start: usize,
        visitor: &mut impl Visitor,
    ) -> Option<StreamId> {
        let bytes_before = self.runs[run].bytes();
        let (mut stopped, mut changed) = (None, false);
        for at in start..self.runs[run].slots().len() {
            let slot = self.runs[run].slots().get(at);
            if !slot.is_live() {
                continue;
            }
            let entry = self.decode(&slot);
            match visitor.visit(entry) {
                Verdict::Keep => {}
                Verdict::Replace(new) => {
                    debug_assert_eq!(new.id, entry.id);
                    let new = self.recount(&slot, new);
                    self.runs[run].set(at, new);
                    changed = true;
                }
                Verdict::Remove => {
                    self.runs[run].kill(at);
                    self.count_out(&slot);
                }
                Verdict::Stop => {
                    stopped = Some(entry.id);
                    break;
                }
            }
        }
        if changed || stopped.is_none() {
            self.runs[run].tighten();
            self.note_aged();
        }
        self.run_bytes = self.run_bytes - bytes_before + self.runs[run].bytes();
        stopped
    }

    /// Counts an entry that changes, and encodes it.
    #[inline]
    fn recount(&mut self, slot: &Slot, new: PendingEntry) -> Slot {
        let deliveries = u32::try_from(new.deliveries).unwrap_or(Slot::MANY);
        if slot.consumer != new.consumer.0 || deliveries.max(slot.deliveries) == Slot::MANY {
            self.count_out(slot);
            return self.count_in(new);
        }
        self.oldest = self.oldest.min(new.delivered_at);
        Slot {
            delivered_at: new.delivered_at,
            deliveries,
            ..*slot
        }
    }
}

/// Goes through pending entries and decides on each. See [`Pending::walk`].
pub(crate) trait Visitor {
    /// Whether a stretch of entries can be left as it is without looking at each.
    fn passes_over(&mut self, run: RunFacts) -> bool;

    /// Decides on one entry.
    fn visit(&mut self, entry: PendingEntry) -> Verdict;
}

/// What a [`Visitor`] wants done with an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// It stays as it is.
    Keep,
    /// It becomes this, which has the same ID.
    Replace(PendingEntry),
    /// It leaves.
    Remove,
    /// It was not looked at, and the walk ends here.
    Stop,
}

/// What is known of a stretch of entries before looking at them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunFacts {
    /// No ID is below.
    pub(crate) first: StreamId,
    /// No ID is above.
    pub(crate) last: StreamId,
    /// Number of entries.
    pub(crate) count: usize,
    /// None was delivered before.
    pub(crate) oldest: UnixMillis,
    consumers: u64,
}

impl RunFacts {
    /// Whether an entry of this consumer may be among them.
    pub(crate) fn may_hold(&self, consumer: ConsumerIndex) -> bool {
        self.consumers & Run::bit(consumer.0) != 0
    }

    fn of(run: &Run, start: usize) -> Self {
        Self {
            first: run.slots().id(start),
            last: run.last(),
            count: run.live_from(start),
            oldest: run.oldest(),
            consumers: run.consumers(),
        }
    }
}
