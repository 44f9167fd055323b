//! What a ledger sums up.

use super::history::History;
use super::promise::Promise;

/// Sums over the entries that were to be delivered to a group.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Summary {
    /// How many there were.
    pub added: u64,
    /// How many were delivered exactly once.
    pub delivered_once: u64,
    /// How many were delivered more often.
    pub redelivered: u64,
    /// How many were acknowledged, by somebody they were delivered to.
    pub acknowledged: u64,
    /// How many acknowledgements there were of what had not been delivered.
    pub acknowledged_undelivered: u64,
    /// How many a consumer had that were not acknowledged since.
    pub unacknowledged: u64,
    /// How many of those a consumer still has.
    pub pending: u64,
    /// How many were never delivered.
    pub undelivered: u64,
    /// How many of those left the stream.
    pub lost: u64,
    /// How often the one was delivered that was delivered most often.
    pub most_deliveries: u64,
    /// Of how many of them nothing else is known any more.
    pub forgotten: u64,
    /// For how many each promise was not kept, by its place in [`Promise::ALL`].
    broken: [u64; Promise::ALL.len()],
}

impl Summary {
    /// For how many entries a promise was not kept.
    #[must_use]
    pub fn broken(&self, promise: Promise) -> u64 {
        let all = Promise::ALL.iter().zip(self.broken);
        let of = all.filter(|(one, _)| **one == promise);
        of.map(|(_, count)| count).sum()
    }

    pub(super) fn add(&mut self, entry: &History) {
        self.added += 1;
        self.delivered_once += u64::from(entry.deliveries == 1);
        self.redelivered += u64::from(entry.deliveries > 1);
        self.acknowledged += u64::from(entry.is_acknowledged);
        self.unacknowledged += u64::from(entry.is_unacknowledged());
        self.pending += u64::from(entry.is_pending());
        self.undelivered += u64::from(entry.deliveries == 0);
        self.lost += u64::from(entry.is_lost);
        self.most_deliveries = self.most_deliveries.max(entry.deliveries);
        for (promise, count) in Promise::ALL.iter().zip(&mut self.broken) {
            *count += u64::from(!promise.is_kept(entry));
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.added += other.added;
        self.delivered_once += other.delivered_once;
        self.redelivered += other.redelivered;
        self.acknowledged += other.acknowledged;
        self.unacknowledged += other.unacknowledged;
        self.pending += other.pending;
        self.undelivered += other.undelivered;
        self.lost += other.lost;
        self.most_deliveries = self.most_deliveries.max(other.most_deliveries);
        self.forgotten += other.forgotten;
        for (count, more) in self.broken.iter_mut().zip(other.broken) {
            *count += more;
        }
    }
}
