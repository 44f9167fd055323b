//! Claiming: pending entries of others, named by ID, change hands.

use crate::group::Group;
use crate::id::StreamId;
use crate::log::Log;
use crate::pending::{ConsumerIndex, PendingEntry};
use crate::stream::{NoGroup, Stream};
use crate::time::{Millis, UnixMillis};

/// Which entries to claim, and what to note of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claim<'a> {
    /// The entries. One that is named twice may be claimed twice.
    pub ids: &'a [StreamId],
    /// Only what is idle for at least so long; zero means whatever it is.
    pub idle_min: Millis,
    /// What to note as the time of the delivery.
    pub time: ClaimTime,
    /// What to note as the number of deliveries, instead of counting one more.
    pub deliveries: Option<u64>,
    /// Whether to make entries pending that are not, if the log has them.
    pub force: bool,
    /// What the reply shows; claiming for the ID alone is no delivery.
    pub shown: ClaimShown,
    /// Moves the group on to here, but never back.
    pub last_id: StreamId,
}

/// The time of delivery that a claim notes. Nonsense, such as a time to come, means now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ClaimTime {
    /// Now.
    #[default]
    Now,
    /// So many milliseconds ago.
    Idle(i64),
    /// At this Unix time in milliseconds.
    At(i64),
}

/// What the claimer is shown of the entries it got.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ClaimShown {
    /// All of it, which counts as a delivery.
    #[default]
    Entry,
    /// The ID alone, which does not.
    JustId,
}

/// What came of a claim.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claimed {
    /// What was claimed, in the order asked for. The log has all of it.
    pub ids: Vec<StreamId>,
    /// How many entries left the pending list because they had left the log.
    pub dropped: u64,
    /// Whether the group's last delivered ID is a higher one now.
    pub has_moved: bool,
    /// Whether the consumer is new.
    pub consumer_created: bool,
}

impl Stream {
    /// Hands pending entries to a consumer, which is created if need be.
    ///
    /// An entry that has left the log leaves the pending list, whatever its idle time, and is not
    /// claimed.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn claim(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        claim: &Claim<'_>,
        now: UnixMillis,
    ) -> Result<Claimed, NoGroup> {
        self.with_group(group, |log, group| {
            let has_moved = group.last_delivered < claim.last_id;
            group.last_delivered = group.last_delivered.max(claim.last_id);
            let (consumer, consumer_created) = group.see(consumer, now);
            let mut dropped = 0;
            let ids = claim
                .ids
                .iter()
                .copied()
                .filter(|&id| {
                    let before = group.pending.len();
                    let is_claimed = group.claim_entry(log, id, consumer, claim, now);
                    dropped += u64::from(group.pending.len() < before);
                    is_claimed
                })
                .collect::<Vec<_>>();
            if !ids.is_empty() {
                group.note_active(consumer, now);
            }
            Claimed {
                ids,
                dropped,
                has_moved,
                consumer_created,
            }
        })
    }
}

impl Group {
    /// Says whether the entry was claimed.
    fn claim_entry(
        &mut self,
        log: &Log,
        id: StreamId,
        consumer: ConsumerIndex,
        claim: &Claim<'_>,
        now: UnixMillis,
    ) -> bool {
        if !log.contains(id) {
            self.pending.remove(id);
            return false;
        }
        let deliveries_before = match self.pending.get(id) {
            Some(entry) if entry.idle(now) >= claim.idle_min => entry.deliveries,
            None if claim.force => FORCED_DELIVERIES,
            _ => return false,
        };
        self.pending.insert(PendingEntry {
            id,
            consumer,
            delivered_at: claim.time.resolve(now),
            deliveries: match claim.deliveries {
                Some(deliveries) => deliveries,
                None => claim.shown.count(deliveries_before),
            },
        });
        true
    }
}

impl ClaimTime {
    fn resolve(self, now: UnixMillis) -> UnixMillis {
        let at = match self {
            Self::Now => Some(now.0),
            Self::Idle(ago) => u64::try_from(ago)
                .ok()
                .and_then(|ago| now.0.checked_sub(ago)),
            Self::At(at) => u64::try_from(at).ok(),
        };
        at.map_or(now, |at| UnixMillis(at.min(now.0)))
    }
}

impl ClaimShown {
    /// The number of deliveries after one more of this kind.
    pub(crate) fn count(self, deliveries: u64) -> u64 {
        match self {
            Self::Entry => deliveries.saturating_add(1),
            Self::JustId => deliveries,
        }
    }
}

/// An entry that is made pending by force counts as delivered once before it is claimed.
const FORCED_DELIVERIES: u64 = 1;
