//! A consumer group: how far it has read, who reads, and what is pending.

use crate::consumer::{Consumer, Consumers};
use crate::id::StreamId;
use crate::pending::{ConsumerIndex, IdleFilter, Pending, PendingEntry, PendingFilter};
use crate::pending::{RunFacts, Verdict, Visitor};
use crate::range::Position;
use crate::time::{Millis, UnixMillis};

/// See the module's documentation.
///
/// Invariant: the consumer of every pending entry exists.
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) last_delivered: StreamId,
    pub(crate) entries_read: Option<u64>,
    pub(crate) pending: Pending,
    pub(crate) consumers: Consumers,
    /// Where in the log the entries were that were to be delivered next. They may be elsewhere by now.
    pub(crate) next_at: Position,
    /// When waiting consumers were last tried in vain. They all count as seen then, without being
    /// touched one by one.
    last_attempt: UnixMillis,
}

impl Group {
    pub(crate) fn new(last_delivered: StreamId, entries_read: Option<u64>) -> Self {
        Self {
            last_delivered,
            entries_read,
            pending: Pending::default(),
            consumers: Consumers::default(),
            next_at: Position::default(),
            last_attempt: UnixMillis(0),
        }
    }

    /// The ID of the last entry that went to some consumer, or where the group was set.
    #[must_use]
    pub fn last_delivered(&self) -> StreamId {
        self.last_delivered
    }

    /// How many entries of the stream lie at or before [`Self::last_delivered`], if that is known.
    #[must_use]
    pub fn entries_read(&self) -> Option<u64> {
        self.entries_read
    }

    /// The entries that were delivered and not acknowledged yet.
    #[must_use]
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// All consumers in byte order of their names.
    pub fn consumers(&self) -> impl ExactSizeIterator<Item = (ConsumerIndex, &Consumer)> {
        self.consumers.iter()
    }

    /// Number of consumers.
    #[must_use]
    pub fn consumer_count(&self) -> usize {
        self.consumers.len()
    }

    /// The consumer of a pending entry, or one that was found by [`Self::find_consumer`].
    ///
    /// # Panics
    ///
    /// If the consumer was deleted since the index was got.
    #[must_use]
    pub fn consumer(&self, index: ConsumerIndex) -> &Consumer {
        self.consumers.get(index)
    }

    /// The consumer of this name.
    #[must_use]
    pub fn find_consumer(&self, name: &[u8]) -> Option<ConsumerIndex> {
        self.consumers.find(name)
    }

    /// When a consumer last asked for something. One that waits asks again with each attempt to
    /// serve it.
    #[must_use]
    pub fn seen_at(&self, consumer: ConsumerIndex, presence: Presence) -> UnixMillis {
        let seen_at = self.consumers.get(consumer).seen_at;
        match presence {
            Presence::Waits => seen_at.max(self.last_attempt),
            Presence::Away => seen_at,
        }
    }

    /// The first and last pending ID and the number of pending entries, if there are any.
    #[must_use]
    pub fn pending_summary(&self) -> Option<PendingSummary> {
        Some(PendingSummary {
            count: self.pending.len(),
            first: self.pending.first_id()?,
            last: self.pending.last_id()?,
        })
    }

    /// The names of the consumers that have pending entries, in byte order, and how many.
    pub fn pending_by_consumer(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.consumers
            .iter()
            .map(|(index, consumer)| (consumer.name(), self.pending.count_of(index)))
            .filter(|&(_, count)| count > 0)
    }

    /// The pending entries in a range of IDs, lowest first, that are idle for at least `idle_min`.
    ///
    /// Passes over stretches where nothing is idle, or nothing is `consumer`'s.
    pub fn pending_range(
        &self,
        from: StreamId,
        to: StreamId,
        consumer: Option<ConsumerIndex>,
        idle_min: Millis,
        now: UnixMillis,
    ) -> impl Iterator<Item = PendingEntry> {
        let idle = IdleFilter { now, min: idle_min };
        self.pending.iter(PendingFilter {
            from,
            to,
            consumer,
            idle,
        })
    }

    /// Memory held, without the value itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pending.bytes() + self.consumers.bytes()
    }

    /// Panics if the group contradicts itself. For tests; looks at every pending entry.
    pub fn check(&self) {
        self.pending.check();
        self.consumers.check();
        for entry in self.pending.iter(PendingFilter::default()) {
            let _exists = self.consumers.get(entry.consumer);
        }
    }

    /// Finds or creates the consumer that asks, and notes that it was seen.
    pub(crate) fn see(&mut self, consumer: &[u8], now: UnixMillis) -> (ConsumerIndex, bool) {
        let (index, created) = self.consumers.find_or_create(consumer, now);
        self.consumers.get_mut(index).seen_at = now;
        (index, created)
    }

    /// Notes that the consumer was given something.
    pub(crate) fn note_active(&mut self, consumer: ConsumerIndex, now: UnixMillis) {
        self.consumers.get_mut(consumer).active_at = Some(now);
    }

    /// Notes an attempt that served none of those who wait.
    pub(crate) fn note_attempt(&mut self, now: UnixMillis) {
        self.last_attempt = now;
    }

    /// Makes what attempts did to a waiting consumer its own, as it waits no longer.
    pub(crate) fn end_wait(&mut self, consumer: ConsumerIndex) {
        let seen_at = self.seen_at(consumer, Presence::Waits);
        self.consumers.get_mut(consumer).seen_at = seen_at;
    }

    /// Removes a consumer and what it has pending. Returns how many entries that were.
    pub(crate) fn delete_consumer(&mut self, consumer: ConsumerIndex) -> u64 {
        let count = self.pending.count_of(consumer);
        if count > 0 {
            self.pending
                .walk(StreamId::MIN, &mut Dropping { consumer, count });
        }
        debug_assert_eq!(self.pending.count_of(consumer), 0);
        self.consumers.remove(consumer);
        count
    }

    /// Takes entries out of the pending list. Returns how many were there.
    pub(crate) fn acknowledge(&mut self, ids: impl IntoIterator<Item = StreamId>) -> u64 {
        self.pending.remove_all(ids)
    }
}

/// Whether a consumer waits for entries at the moment. The one who serves waiters knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Presence {
    /// A call of it waits for an entry of this group.
    Waits,
    /// No call of it waits.
    Away,
}

/// What a group has pending, in short.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PendingSummary {
    /// Number of pending entries, which is not zero.
    pub count: usize,
    /// The lowest ID.
    pub first: StreamId,
    /// The highest ID.
    pub last: StreamId,
}

/// Drops all entries of a consumer.
struct Dropping {
    consumer: ConsumerIndex,
    /// Entries that are still to be found.
    count: u64,
}

impl Visitor for Dropping {
    fn passes_over(&mut self, run: RunFacts) -> bool {
        !run.may_hold(self.consumer)
    }

    fn visit(&mut self, entry: PendingEntry) -> Verdict {
        if self.count == 0 {
            return Verdict::Stop;
        }
        if entry.consumer != self.consumer {
            return Verdict::Keep;
        }
        self.count -= 1;
        Verdict::Remove
    }
}
