//! Snapshots: all data and the clock as they were, under names that a test gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailrace_storage::Millis;
use tailrace_storage::MissingDatabase;
use tailrace_storage::Snapshot;
use tailrace_storage::Store;
use tailrace_storage::key_slot;

use super::Double;
use super::clock::Pace;
use super::clock::Standing;
use super::condition::text;
use super::stage::Stage;
use crate::cluster::Membership;
use crate::cluster::NodeIndex;
use crate::cluster::View;
use crate::commands::flush::Free;
use crate::state::State;

/// The snapshots by their names.
pub(crate) type Snapshots = BTreeMap<Vec<u8>, Arc<Saved>>;

/// The data of all databases and the clock, as they were.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) data: Snapshot,
    pub(crate) clock: ClockState,
    /// By how much each command moves the clock on.
    tick: Millis,
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

impl Saved {
    /// Whether keys of this name were those of the node that it is of, which is the one of this number: those that lie
    /// elsewhere by mistake are lost when that ends.
    fn had(&self, number: usize, key: &[u8]) -> bool {
        let Some(view) = &self.view else {
            return true;
        };
        let slot = key_slot(key);
        let owner = view.owner_of(slot);
        let is_owner = |node: NodeIndex| view.node(node).engine == Some(number);
        let nodes = view.nodes.iter();
        let mut own = nodes.filter(|node| node.engine == Some(number));
        owner.is_some_and(is_owner) || own.any(|node| node.importing.contains_key(&slot))
    }
}

impl ClockState {
    /// Lets the clock of a stage go like this.
    pub(super) fn set_on(self, stage: &Stage) {
        stage.clock.go_back_to(self.standing);
        stage.jobs.lock().auto = self.auto;
        stage.bell.notify_one();
    }

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

    /// Copies all data, which is in `store`, and the clock.
    fn save(&self, store: &Store, cluster: Option<&Membership>) -> Saved {
        Saved {
            data: store.snapshot(),
            clock: self.clock_state(),
            tick: self.stage.tick(),
            view: cluster.map(|cluster| cluster.topology().view()),
        }
    }
}

impl State {
    /// How everything was when it was kept under this name, if it was.
    pub(crate) fn snapshot(&self, name: &[u8]) -> Option<Arc<Saved>> {
        self.double.as_ref()?.snapshots.get(name).cloned()
    }

    /// Likewise, or how everything is now if the name means that.
    pub(crate) fn snapshot_or_now(&self, name: &[u8]) -> Option<Arc<Saved>> {
        match is_now(name) {
            true => self
                .double
                .as_ref()
                .map(|double| Arc::new(double.save(&self.store, self.cluster.as_deref()))),
            false => self.snapshot(name),
        }
    }

    /// Keeps how everything is under a name.
    pub(crate) fn save_snapshot(&mut self, name: &[u8]) {
        let saved = self.snapshot_or_now(NOW);
        if let (Some(double), Some(saved)) = (&mut self.double, saved) {
            double.snapshots.insert(name.to_vec(), saved);
        }
    }

    /// Goes back to what was kept under a name, if anything was.
    pub(crate) fn restore_snapshot(&mut self, name: &[u8]) {
        if let Some(saved) = self.snapshot(name) {
            self.go_back_to(Arc::unwrap_or_clone(saved));
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
            saved.clock.set_on(&double.stage);
            double.stage.set_tick(saved.tick);
        }
        if let Some(view) = &saved.view {
            self.go_back_in_cluster(view);
        }
        self.replace_data(saved.data);
    }

    /// Begins with what the nodes of another server or cluster had, given in their order: with the clock, and those keys
    /// that are for this node. That is how the double starts.
    ///
    /// # Errors
    ///
    /// [`MissingDatabase`] if a key is in a database that there is not here.
    pub(crate) fn begin_with(&mut self, parts: &[Arc<Saved>]) -> Result<(), MissingDatabase> {
        let Some(first) = parts.first() else {
            return Ok(());
        };
        let is_copy = self.cluster.is_none() && first.view.is_none();
        let data = match is_copy {
            true => first.data.clone(),
            false => {
                let snapshots: Vec<&Snapshot> = parts.iter().map(|part| &part.data).collect();
                self.store.gather(&snapshots, |number, key| {
                    parts[number].had(number, key) && self.is_own(key)
                })?
            }
        };
        let (clock, tick) = (first.clock, first.tick);
        self.go_back_to(Saved {
            data,
            clock,
            tick,
            view: None,
        });
        self.note_origin_at(clock);
        Ok(())
    }

    /// Whether a key is one of this node, by its slot.
    pub(crate) fn is_own(&self, key: &[u8]) -> bool {
        let Some(cluster) = &self.cluster else {
            return true;
        };
        let view = cluster.view();
        let own = self.double.as_ref().map(|double| double.engine);
        let owner = view.owner_of(key_slot(key));
        owner.is_none_or(|owner| view.node(owner).engine == own)
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

/// Whether a name means what is there now, wherever a snapshot can be named.
pub(crate) fn is_now(name: &[u8]) -> bool {
    name == NOW || name.eq_ignore_ascii_case(b"now")
}

/// The name of what is there now.
pub(crate) const NOW: &[u8] = b".";

/// Whether a snapshot can be kept under this name; if not, why.
pub(crate) fn check_new(double: &Double, name: &[u8]) -> Result<(), String> {
    if is_now(name) {
        return Err("NOW and . name what is there now; choose another name".to_owned());
    }
    if double.snapshots.len() >= SNAPSHOTS_MAX && !double.snapshots.contains_key(name) {
        return Err(format!(
            "there are {SNAPSHOTS_MAX} snapshots, which is the most; DROP one"
        ));
    }
    Ok(())
}

/// Whether there is a snapshot of this name; if not, which there are.
pub(crate) fn check_known(double: &Double, name: &[u8]) -> Result<(), String> {
    if double.snapshots.contains_key(name) {
        return Ok(());
    }
    let names: Vec<String> = double.snapshots.keys().map(|name| text(name)).collect();
    let name = text(name);
    Err(match names.as_slice() {
        [] => format!("there is no snapshot '{name}', and no other"),
        names => format!(
            "there is no snapshot '{name}'; there are: {}",
            names.join(", ")
        ),
    })
}

/// How many snapshots are kept: enough for one before each test of a large suite.
pub(crate) const SNAPSHOTS_MAX: usize = 1_000;
