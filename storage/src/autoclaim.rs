//! Claiming whatever is idle: a scan over the pending entries, a bounded part of it in each call.

use crate::claim::ClaimShown;
use crate::id::StreamId;
use crate::log::Log;
use crate::lookup::Lookup;
use crate::pending::{ConsumerIndex, IdleFilter, PendingEntry, RunFacts, Verdict, Visitor};
use crate::stream::{NoGroup, Stream};
use crate::time::{Millis, UnixMillis};

/// What to claim, and how much.
#[derive(Clone, Copy, Debug)]
pub struct AutoClaim {
    /// Where the scan begins.
    pub start: StreamId,
    /// Only what is idle for at least so long; zero means everything.
    pub idle_min: Millis,
    /// How many entries may be claimed or found deleted. Ten times as many are scanned at most.
    pub count_max: u64,
    /// What the reply shows; claiming for the ID alone is no delivery.
    pub shown: ClaimShown,
}

/// What came of a scan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AutoClaimed {
    /// The next pending entry that was not scanned; `None` at the end.
    pub next: Option<StreamId>,
    /// What was claimed, lowest ID first. The log has all of it.
    pub claimed: Vec<StreamId>,
    /// What was found to have left the log, and has now left the pending list too.
    pub deleted: Vec<StreamId>,
    /// Whether the consumer is new.
    pub consumer_created: bool,
}

impl Stream {
    /// Scans pending entries from `ask.start` on and hands those that are idle to a consumer,
    /// which is created if need be.
    ///
    /// An entry that has left the log leaves the pending list whether or not it is idle. The cost
    /// is bounded by `ask.count_max`, and stretches where nothing is idle and nothing was deleted
    /// cost next to nothing.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn auto_claim(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        ask: AutoClaim,
        now: UnixMillis,
    ) -> Result<AutoClaimed, NoGroup> {
        self.with_group(group, |log, group| {
            let (consumer, consumer_created) = group.see(consumer, now);
            let mut scan = Scan {
                log,
                lookup: log.lookup(),
                consumer,
                idle: IdleFilter {
                    now,
                    min: ask.idle_min,
                },
                shown: ask.shown,
                count_left: ask.count_max,
                scans_left: ask.count_max.saturating_mul(SCANS_PER_COUNT),
                log_is_whole: false,
                claimed: Vec::new(),
                deleted: Vec::new(),
            };
            let next = group.pending.walk(ask.start, &mut scan);
            let Scan {
                claimed, deleted, ..
            } = scan;
            if !claimed.is_empty() {
                group.note_active(consumer, now);
            }
            AutoClaimed {
                next,
                claimed,
                deleted,
                consumer_created,
            }
        })
    }
}

struct Scan<'a> {
    log: &'a Log,
    lookup: Lookup<'a>,
    consumer: ConsumerIndex,
    idle: IdleFilter,
    shown: ClaimShown,
    /// Entries that may still be claimed or found deleted.
    count_left: u64,
    /// Entries that may still be looked at.
    scans_left: u64,
    /// Whether the log has all entries of the stretch that is looked at.
    log_is_whole: bool,
    claimed: Vec<StreamId>,
    deleted: Vec<StreamId>,
}

impl Scan<'_> {
    fn is_over(&self) -> bool {
        self.count_left == 0 || self.scans_left == 0
    }
}

impl Visitor for Scan<'_> {
    /// Passing over a stretch must show in nothing but time: it is counted as scanned, and looked
    /// at entry by entry if the scan is to end within it.
    fn passes_over(&mut self, run: RunFacts) -> bool {
        let count = run.count as u64;
        if self.is_over() {
            return false;
        }
        self.log_is_whole = !self.log.may_have_lost(run.first, run.last);
        if !self.log_is_whole || self.idle.admits(run.oldest) || count > self.scans_left {
            return false;
        }
        self.scans_left -= count;
        true
    }

    fn visit(&mut self, entry: PendingEntry) -> Verdict {
        if self.is_over() {
            return Verdict::Stop;
        }
        self.scans_left -= 1;
        if !self.log_is_whole && !self.lookup.contains(entry.id) {
            self.count_left -= 1;
            self.deleted.push(entry.id);
            return Verdict::Remove;
        }
        if !self.idle.admits(entry.delivered_at) {
            return Verdict::Keep;
        }
        self.count_left -= 1;
        self.claimed.push(entry.id);
        Verdict::Replace(PendingEntry {
            consumer: self.consumer,
            delivered_at: self.idle.now,
            deliveries: self.shown.count(entry.deliveries),
            ..entry
        })
    }
}

/// How many pending entries may be scanned for each one that may be claimed.
const SCANS_PER_COUNT: u64 = 10;
