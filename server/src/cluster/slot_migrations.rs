//! Slots that move in the background, as `CLUSTER MIGRATESLOTS` asks for it: what is asked for, and how far it is.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::NodeIndex;
use crate::sockets;

/// All migrations of a process, the newest first.
#[derive(Default)]
pub(crate) struct SlotMigrations {
    jobs: Mutex<VecDeque<SlotMigration>>,
    /// Told when there is another one.
    pub(super) asked: Notify,
}

/// Slots on their way from one node of this process to another.
#[derive(Clone, Debug)]
pub(crate) struct SlotMigration {
    /// 40 hexadecimal digits.
    pub(crate) name: String,
    /// The slots, as ranges with both ends.
    pub(crate) ranges: Vec<(u16, u16)>,
    pub(crate) source: NodeIndex,
    pub(crate) target: NodeIndex,
    /// What the two nodes were called when it began.
    pub(crate) ids: [String; 2],
    /// When it was asked for, in seconds.
    pub(crate) created_at: u64,
    /// When its state last changed, in seconds.
    pub(crate) updated_at: u64,
    pub(crate) state: MigrationState,
    /// Why it failed.
    pub(crate) message: &'static str,
}

/// ```text
/// Waiting --> Moving --> Succeeded
///    |           +-----> Failed
///    +-----------+-----> Cancelled
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MigrationState {
    Waiting,
    Moving,
    Succeeded,
    Failed,
    Cancelled,
}

impl MigrationState {
    /// What the reference calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting-to-snapshot",
            Self::Moving => "replicating",
            Self::Succeeded => "success",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Moving)
    }
}

impl SlotMigration {
    /// One that was not begun.
    pub(crate) fn new(
        ranges: Vec<(u16, u16)>,
        [source, target]: [NodeIndex; 2],
        ids: [String; 2],
        now: u64,
    ) -> Self {
        Self {
            name: sockets::random_id(),
            ranges,
            source,
            target,
            ids,
            created_at: now,
            updated_at: now,
            state: MigrationState::Waiting,
            message: "",
        }
    }

    /// Whether a slot is on its way.
    pub(crate) fn moves(&self, slot: u16) -> bool {
        let is_in = |(first, last): &(u16, u16)| (*first..=*last).contains(&slot);
        !self.state.is_over() && self.ranges.iter().any(is_in)
    }

    /// All its slots.
    pub(super) fn slots(&self) -> impl Iterator<Item = u16> {
        self.ranges.iter().flat_map(|(first, last)| *first..=*last)
    }
}

impl SlotMigrations {
    /// Those that there are, and the last `kept_max` of those that are over.
    pub(crate) fn list(&self, kept_max: usize) -> Vec<SlotMigration> {
        let mut jobs = self.jobs.lock();
        let mut kept = 0;
        jobs.retain(|job| {
            kept += usize::from(job.state.is_over());
            !job.state.is_over() || kept <= kept_max
        });
        jobs.iter().cloned().collect()
    }

    /// Asks for migrations.
    pub(crate) fn ask_for(&self, migrations: Vec<SlotMigration>) {
        let mut jobs = self.jobs.lock();
        for migration in migrations.into_iter().rev() {
            jobs.push_front(migration);
        }
        self.asked.notify_one();
    }

    /// Ends those that go from a node. Whether there were any.
    pub(crate) fn cancel(&self, source: NodeIndex, now: u64) -> bool {
        let mut jobs = self.jobs.lock();
        let running = jobs.iter_mut();
        let running = running.filter(|job| job.source == source && !job.state.is_over());
        let mut are_any = false;
        for job in running {
            job.state = MigrationState::Cancelled;
            job.updated_at = now;
            are_any = true;
        }
        are_any
    }

    /// Begins the next one.
    pub(super) fn begin(&self) -> Option<SlotMigration> {
        let mut jobs = self.jobs.lock();
        let oldest_first = jobs.iter_mut().rev();
        let mut waiting = oldest_first.filter(|job| job.state == MigrationState::Waiting);
        let next = waiting.next()?;
        next.state = MigrationState::Moving;
        Some(next.clone())
    }

    /// Whether one was begun and is not over.
    pub(super) fn is_going_on(&self, name: &str) -> bool {
        let jobs = self.jobs.lock();
        let job = jobs.iter().find(|job| job.name == name);
        job.is_some_and(|job| job.state == MigrationState::Moving)
    }

    /// Ends one that is going on.
    pub(super) fn end(&self, name: &str, failure: Option<&'static str>, now: u64) {
        let mut jobs = self.jobs.lock();
        let job = jobs.iter_mut().find(|job| job.name == name);
        if let Some(job) = job.filter(|job| job.state == MigrationState::Moving) {
            job.state = match failure {
                None => MigrationState::Succeeded,
                Some(_) => MigrationState::Failed,
            };
            job.message = failure.unwrap_or_default();
            job.updated_at = now;
        }
    }
}
