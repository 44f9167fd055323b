//! When keys are due.

use std::collections::BTreeSet;

use crate::keyspace::RecordIndex;
use crate::time::{Millis, UnixMillis};

/// Returns whether a key with this deadline reads as missing.
///
/// The millisecond of the deadline itself still belongs to the key.
pub(crate) const fn is_due(deadline: UnixMillis, now: UnixMillis) -> bool {
    now.0 > deadline.0
}

/// The deadlines of one database, soonest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    ordered: BTreeSet<(UnixMillis, RecordIndex)>,
    /// Invariant: all deadlines added up.
    sum: u128,
}

impl Deadlines {
    pub(crate) fn insert(&mut self, deadline: UnixMillis, index: RecordIndex) {
        let added = self.ordered.insert((deadline, index));
        debug_assert!(added, "a key has one deadline");
        self.sum += u128::from(deadline.0);
    }

    pub(crate) fn remove(&mut self, deadline: UnixMillis, index: RecordIndex) {
        let removed = self.ordered.remove(&(deadline, index));
        debug_assert!(removed, "every deadline of a key is listed");
        self.sum -= u128::from(deadline.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.ordered.len()
    }

    pub(crate) fn contains(&self, deadline: UnixMillis, index: RecordIndex) -> bool {
        self.ordered.contains(&(deadline, index))
    }

    /// Returns how far the deadlines lie after `now` on average; zero if there is none.
    pub(crate) fn average_after(&self, now: UnixMillis) -> Millis {
        let count = self.ordered.len() as u128;
        let average = self.sum.checked_div(count).unwrap_or(0);
        let after = average.saturating_sub(u128::from(now.0));
        Millis(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// Returns the soonest deadline and its key.
    pub(crate) fn first(&self) -> Option<(UnixMillis, RecordIndex)> {
        self.ordered.first().copied()
    }

    /// Returns when the first key will be due.
    pub(crate) fn first_due_at(&self) -> Option<UnixMillis> {
        self.first().map(|(deadline, _)| deadline + Millis(1))
    }
}

/// What [`expire_at`](crate::Store::expire_at) asks for before it sets a deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpireCondition {
    /// Whether the key must have a deadline.
    pub current: CurrentDeadline,
    /// How the new deadline must compare with the one the key has.
    pub order: DeadlineOrder,
}

/// Whether a key must have a deadline to be given another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurrentDeadline {
    /// It does not matter.
    #[default]
    Any,
    /// It must have none (NX).
    Absent,
    /// It must have one (XX).
    Present,
}

/// How a new deadline must compare with the one the key has. Without one, a key lives for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeadlineOrder {
    /// It does not matter.
    #[default]
    Any,
    /// It must be later (GT).
    Later,
    /// It must be sooner (LT).
    Sooner,
}

impl ExpireCondition {
    /// Returns whether a key with deadline `current` may be given `new`.
    pub(crate) fn holds(self, current: Option<UnixMillis>, new: UnixMillis) -> bool {
        let presence = match self.current {
            CurrentDeadline::Any => true,
            CurrentDeadline::Absent => current.is_none(),
            CurrentDeadline::Present => current.is_some(),
        };
        let order = match self.order {
            DeadlineOrder::Any => true,
            DeadlineOrder::Later => current.is_some_and(|current| new > current),
            DeadlineOrder::Sooner => current.is_none_or(|current| new < current),
        };
        presence && order
    }
}

/// What became of a call of [`expire_at`](crate::Store::expire_at).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpireOutcome {
    /// The key is missing, or the condition does not hold.
    Refused,
    /// The deadline was set.
    Set,
    /// The deadline has passed already; the key was removed.
    Removed,
}

/// How long a key lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// For ever.
    Unlimited,
    /// Until this point in time.
    Until(UnixMillis),
}
