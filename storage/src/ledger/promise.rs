//! What a group may promise about its entries.

use super::history::History;

/// A promise about the entries of a group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Promise {
    /// Each was delivered, and acknowledged since by somebody it was delivered to.
    AtLeastOnce(Work),
    /// Each was delivered once and not again, and acknowledged likewise.
    ExactlyOnce(Work),
    /// None left the stream before its delivery.
    NoLoss,
    /// None is pending or was dropped from the pending list, and nobody acknowledged what was not delivered to it.
    NoLeak,
}

/// Whether the work that an entry asks for counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// What was acknowledged counts as done.
    Unseen,
    /// It is to be noted as done before the acknowledgement.
    Noted,
}

impl Promise {
    /// All of them.
    pub(super) const ALL: [Self; 6] = [
        Self::AtLeastOnce(Work::Unseen),
        Self::AtLeastOnce(Work::Noted),
        Self::ExactlyOnce(Work::Unseen),
        Self::ExactlyOnce(Work::Noted),
        Self::NoLoss,
        Self::NoLeak,
    ];

    /// Whether it was kept for an entry.
    pub(super) const fn is_kept(self, entry: &History) -> bool {
        match self {
            Self::AtLeastOnce(work) => is_done(entry, work),
            Self::ExactlyOnce(work) => is_done(entry, work) && entry.deliveries == 1,
            Self::NoLoss => !entry.is_lost,
            Self::NoLeak => !entry.is_unacknowledged(),
        }
    }
}

const fn is_done(entry: &History, work: Work) -> bool {
    let is_worked = match work {
        Work::Unseen => true,
        Work::Noted => entry.is_worked,
    };
    entry.deliveries > 0 && entry.is_acknowledged && !entry.is_pending() && is_worked
}
