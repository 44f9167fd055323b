//! Snapshots: all data and the clock as they were, under names that a test gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailrace_storage::Contents;
use tailrace_storage::Snapshot;
use tailrace_storage::Store;

use super::Double;
use super::clock::Pace;
use super::clock::Standing;
use crate::cluster::Membership;
use crate::cluster::View;
use crate::commands::flush::Free;
use crate::state::State;

/// The snapshots by their names.
pub(crate) type Snapshots = BTreeMap<Vec<u8>, Saved>;

/// The data of all databases and the clock, as they were.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) data: Snapshot,
    pub(crate) clock: ClockState,
    /// Who had which slot and role in the cluster, if there is one.
    view: Option<Arc<View>>,
}

/// How the clock goes, and what it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClockState {
    standing: Standing,
    /// What `CLOCK AUTO` was given.
    auto: Option<usize>,
}

/// All data and the clock, of a snapshot or of now.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) contents: Contents<'a>,
    pub(crate) clock: ClockState,
}

impl Saved {
    /// What is to be seen of it.
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen {
            contents: self.data.contents(),
            clock: self.clock,
        }
    }
}

impl ClockState {
    /// In words: the mode, and what it shows unless it runs.
    pub(crate) fn describe(self) -> String {
        let shown = self.standing.shown_ms();
        match self.standing.pace() {
            Pace::Real => "real".to_owned(),
            Pace::Scaled(factor) => format!("scale {factor}"),
            Pace::Frozen if self.auto.is_some() => format!("auto {shown}"),
            Pace::Frozen => format!("frozen {shown}"),
        }
    }
}

impl Double {
    /// How the clock goes now.
    pub(crate) fn clock_state(&self) -> ClockState {
        ClockState {
            standing: self.stage.clock.standing(),
            auto: self.stage.jobs.lock().auto,
        }
    }

    /// All data, which is in `store`, and the clock.
    pub(crate) fn seen<'a>(&self, store: &'a Store) -> Seen<'a> {
        Seen {
            contents: store.contents(),
            clock: self.clock_state(),
        }
    }

    /// Copies all data, which is in `store`, and the clock.
    pub(crate) fn save(&self, store: &Store, cluster: Option<&Membership>) -> Saved {
        Saved {
            data: store.snapshot(),
            clock: self.clock_state(),
            view: cluster.map(|cluster| cluster.topology().view()),
        }
    }
}

impl State {
    /// Keeps how everything is under a name.
    pub(crate) fn save_snapshot(&mut self, name: &[u8]) {
        if let Some(double) = &mut self.double {
            let saved = double.save(&self.store, self.cluster.as_deref());
            double.snapshots.insert(name.to_vec(), saved);
        }
    }

    /// Goes back to what was kept under a name, if anything was.
    pub(crate) fn restore_snapshot(&mut self, name: &[u8]) {
        let double = self.double.as_ref();
        let saved = double.and_then(|double| double.snapshots.get(name));
        if let Some(saved) = saved.cloned() {
            self.go_back_to(saved);
        }
    }

    /// Forgets what was kept under a name.
    pub(crate) fn drop_snapshot(&mut self, name: &[u8]) {
        if let Some(double) = &mut self.double {
            double.snapshots.remove(name);
        }
    }

    /// Goes back to `saved`. Who waits is attempted again, watched keys that are there or were are changed, and caches
    /// are told to forget all. The monotonic clock goes on, and with it the deadlines of those who wait.
    pub(crate) fn go_back_to(&mut self, saved: Saved) {
        if let Some(double) = &self.double {
            let stage = &double.stage;
            stage.clock.go_back_to(saved.clock.standing);
            stage.jobs.lock().auto = saved.clock.auto;
            stage.bell.notify_one();
        }
        if let Some(view) = &saved.view {
            self.go_back_in_cluster(view);
        }
        self.replace_data(saved.data);
    }

    /// Puts other data into the place of all there is. What is due by the clock of now is so at once.
    pub(crate) fn replace_data(&mut self, data: Snapshot) {
        self.store.set_now(self.clock.now().unix());
        let replaced = self.store.restore_snapshot(data);
        let forgotten = self.invalidate_all();
        let count = replaced.len() + forgotten.len();
        Free::Later.drop(count, (replaced, forgotten));
    }
}

/// How many snapshots are kept: enough for one before each test of a large suite.
pub(crate) const SNAPSHOTS_MAX: usize = 1_000;
