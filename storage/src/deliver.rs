//! Reading through a group: new entries, and a consumer's own history.

use crate::entry::Entry;
use crate::group::Group;
use crate::id::StreamId;
use crate::lag::Counters;
use crate::log::Log;
use crate::lookup::Lookup;
use crate::pending::{ConsumerIndex, PendingEntry, RunFacts, Verdict, Visitor};
use crate::range::Position;
use crate::stream::{NoGroup, Stream};
use crate::time::UnixMillis;

/// Whether delivered entries wait for an acknowledgement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tracking {
    /// They are pending until they are acknowledged.
    Pending,
    /// They count as done with their delivery.
    NoAck,
}

/// A stretch of the log that was delivered: all its entries from one ID to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Delivered {
    /// The first entry.
    pub from: StreamId,
    /// The last entry.
    pub to: StreamId,
    /// Number of entries.
    pub count: u64,
}

/// What came of reading new entries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadNew {
    /// What was delivered, if there was anything to deliver.
    pub delivered: Option<Delivered>,
    /// Whether the consumer is new.
    pub consumer_created: bool,
    /// Where the log has what was delivered.
    at: Position,
}

/// What came of reading a consumer's history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct History {
    /// The entries, lowest ID first.
    pub entries: Vec<HistoryEntry>,
    /// Whether the consumer is new.
    pub consumer_created: bool,
}

/// An entry that a consumer was given before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HistoryEntry {
    /// Its ID.
    pub id: StreamId,
    /// Whether the log still has it.
    pub is_live: bool,
}

impl Stream {
    /// Delivers entries that the group has not seen, `count_max` at most, to a consumer, which is
    /// created if need be and counts as seen even if there is nothing.
    ///
    /// An entry that is pending already, since the group was set back, changes hands and counts as
    /// delivered once; with [`Tracking::NoAck`] it stays as it is.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn read_new(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        count_max: u64,
        tracking: Tracking,
        now: UnixMillis,
    ) -> Result<ReadNew, NoGroup> {
        let counters = self.counters();
        self.with_group(group, |log, group| {
            let (consumer, consumer_created) = group.see(consumer, now);
            let new = NewEntries {
                log,
                counters,
                count_max,
                tracking,
            };
            let delivered = group.deliver(&new, consumer, now).unzip();
            ReadNew {
                delivered: delivered.0,
                at: delivered.1.unwrap_or_default(),
                consumer_created,
            }
        })
    }

    /// Walks over the entries that were delivered, before anything else is done to the stream.
    pub fn delivered(&self, read: &ReadNew) -> impl Iterator<Item = Entry<'_>> {
        let count = read.delivered.map_or(0, |delivered| delivered.count);
        let entries = self.log().range_from(read.at);
        entries.take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Lists what a consumer has pending above `after`, `count_max` entries at most. The consumer
    /// is created if need be.
    ///
    /// For those that the log still has this is another delivery, so that their delivery count and
    /// time change.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn read_history(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        after: StreamId,
        count_max: u64,
        now: UnixMillis,
    ) -> Result<History, NoGroup> {
        self.with_group(group, |log, group| {
            let (consumer, consumer_created) = group.see(consumer, now);
            let mut reading = Rereading {
                log: log.lookup(),
                consumer,
                now,
                left: count_max.min(group.pending.count_of(consumer)),
                entries: Vec::new(),
            };
            let expected = usize::try_from(reading.left).unwrap_or(usize::MAX);
            reading.entries.reserve(expected.min(RESERVED_MAX));
            if let Some(from) = after.next() {
                group.pending.walk(from, &mut reading);
            }
            History {
                entries: reading.entries,
                consumer_created,
            }
        })
    }

    /// Whether the group has entries to deliver.
    #[must_use]
    pub fn has_undelivered(&self, group: &Group) -> bool {
        self.log().last_id() > Some(group.last_delivered())
    }
}

/// What [`Group::deliver`] may hand out, and how.
struct NewEntries<'a> {
    log: &'a Log,
    counters: Counters,
    count_max: u64,
    tracking: Tracking,
}

impl Group {
    /// Delivers what there is, and tells where that is in the log.
    fn deliver(
        &mut self,
        new: &NewEntries<'_>,
        consumer: ConsumerIndex,
        now: UnixMillis,
    ) -> Option<(Delivered, Position)> {
        let after = self.last_delivered.next()?;
        if new.log.last_id() < Some(after) {
            return None;
        }
        let mut left = new.log.range_from(new.log.seek_from(self.next_at, after));
        let at = left.start();
        let count = left.count_up_to(new.count_max);
        let from = left.clone().next_id()?;
        let mut ids = left.clone();
        self.entries_read = new.counters.advance_over(
            self.last_delivered,
            self.entries_read,
            std::iter::from_fn(|| ids.next_id()),
            count,
        );
        let ids = std::iter::from_fn(|| left.next_id());
        let ids_max = usize::try_from(count).unwrap_or(usize::MAX);
        let to = match new.tracking {
            Tracking::Pending => {
                self.note_active(consumer, now);
                let first = PendingEntry {
                    id: from,
                    consumer,
                    delivered_at: now,
                    deliveries: 1,
                };
                self.pending.insert_all(first, ids, ids_max)
            }
            Tracking::NoAck => ids.take(ids_max).last(),
        };
        let to = to.unwrap_or(from);
        self.last_delivered = to;
        self.next_at = left.start();
        Some((Delivered { from, to, count }, at))
    }
}

/// Delivers entries of a consumer once more.
struct Rereading<'a> {
    log: Lookup<'a>,
    consumer: ConsumerIndex,
    now: UnixMillis,
    /// Entries that may still be listed.
    left: u64,
    entries: Vec<HistoryEntry>,
}

impl Visitor for Rereading<'_> {
    fn passes_over(&mut self, run: RunFacts) -> bool {
        self.left > 0 && !run.may_hold(self.consumer)
    }

    fn visit(&mut self, entry: PendingEntry) -> Verdict {
        if self.left == 0 {
            return Verdict::Stop;
        }
        if entry.consumer != self.consumer {
            return Verdict::Keep;
        }
        self.left -= 1;
        let is_live = self.log.contains(entry.id);
        self.entries.push(HistoryEntry {
            id: entry.id,
            is_live,
        });
        if !is_live {
            return Verdict::Keep;
        }
        Verdict::Replace(PendingEntry {
            delivered_at: self.now,
            deliveries: entry.deliveries.saturating_add(1),
            ..entry
        })
    }
}

/// Entries of a consumer's history that memory is taken for at once.
const RESERVED_MAX: usize = 1_024;
