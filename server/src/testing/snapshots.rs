//! All data: kept, brought back, shown, compared, and put in.

use std::sync::Arc;

use super::TestError;
use super::TestServer;
use crate::double::commands::BUSY_SCRIPT;
use crate::double::facts::Keys;
use crate::double::facts::diff_text;
use crate::double::facts::state_text;
use crate::double::fixture;
use crate::double::snapshots::NOW;
use crate::double::snapshots::Saved;
use crate::double::snapshots::check_known;
use crate::double::snapshots::check_new;
use crate::double::snapshots::is_now;

/// All data and the clock as they were, under names that the test gives. Of a cluster they are those of all nodes, with
/// slots and roles.
#[derive(Clone, Copy)]
pub struct Snapshots<'a>(pub(super) &'a TestServer);

/// What is known of a snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SnapshotRecord {
    /// What the test called it.
    pub name: Vec<u8>,
    /// How many keys it has, in all databases.
    pub keys: usize,
    /// The memory that its keys and values take.
    pub bytes: usize,
    /// How the clock went, and what it showed unless it ran with the host's: `frozen 1000000`.
    pub clock: String,
}

impl Snapshots<'_> {
    /// Keeps all data and the clock under a name, in the place of what was kept under it.
    ///
    /// # Errors
    ///
    /// If the name is `NOW` or `.`, which mean what is there now, or a thousand snapshots are kept.
    pub fn save(self, name: &str) -> Result<(), TestError> {
        self.0.without_script()?;
        let name = name.as_bytes();
        self.0.ask_first(|state| match &state.double {
            Some(double) => check_new(double, name),
            None => Ok(()),
        })?;
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.save_snapshot(name));
        Ok(())
    }

    /// Goes back to what was kept, as often as one likes. Connections stay; who waits is attempted again.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot.
    pub fn restore(self, name: &str) -> Result<(), TestError> {
        self.0.without_script()?;
        self.known(name)?;
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.restore_snapshot(name.as_bytes()));
        Ok(())
    }

    /// Forgets what was kept under a name.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot.
    pub fn remove(self, name: &str) -> Result<(), TestError> {
        self.known(name)?;
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.drop_snapshot(name.as_bytes()));
        Ok(())
    }

    /// What is kept, by names.
    pub fn list(self) -> Vec<SnapshotRecord> {
        let nodes = self.0.stage.look_at_all(|state| {
            let double = state.double.as_ref();
            double.map_or_else(Default::default, |double| double.snapshots.clone())
        });
        let names = nodes.first().into_iter().flatten();
        let record = |(name, first): (&Vec<u8>, &Arc<Saved>)| {
            let parts = || nodes.iter().filter_map(|node| node.get(name));
            SnapshotRecord {
                name: name.clone(),
                keys: parts().map(|part| part.data.len()).sum(),
                bytes: parts().map(|part| part.data.bytes()).sum(),
                clock: first.clock.describe(),
            }
        };
        names.map(record).collect()
    }

    /// The lines in which one snapshot differs from another, with the names of both before them; nothing if none does.
    /// `NOW` is what is there now.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot.
    pub fn diff(self, one: &str, other: &str) -> Result<String, TestError> {
        for name in [one, other] {
            if !is_now(name.as_bytes()) {
                self.known(name)?;
            }
        }
        let of = |name: &str| {
            let nodes = self
                .0
                .stage
                .look_at_all(|state| state.snapshot_or_now(name.as_bytes()));
            nodes.into_iter().flatten().collect::<Vec<_>>()
        };
        let (before, after) = (of(one), of(other));
        Ok(diff_text(
            (one.as_bytes(), &before),
            (other.as_bytes(), &after),
        ))
    }

    fn known(self, name: &str) -> Result<(), TestError> {
        self.0.ask_first(|state| match &state.double {
            Some(double) => check_known(double, name.as_bytes()),
            None => Ok(()),
        })
    }
}

impl TestServer {
    /// Snapshots of all data: see [`Snapshots`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::builder().frozen_at(1_000_000).start()?;
    /// server.load("XADD jobs 1-1 task resize\nXGROUP CREATE jobs workers 0")?;
    /// server.snapshots().save("begun")?;
    /// server.load("XADD jobs * task mail")?;
    /// let differs = server.snapshots().diff("begun", "NOW")?;
    /// assert!(differs.ends_with("+ db0 jobs entry 1000000-0 task mail\n"));
    /// server.snapshots().restore("begun")?;
    /// assert_eq!(server.snapshots().diff("begun", "NOW")?, "");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshots(&self) -> Snapshots<'_> {
        Snapshots(self)
    }

    /// All data as text for golden files: a fact a line, always in the same order; of a cluster those of all nodes.
    ///
    /// # Examples
    ///
    /// ```
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::builder().frozen_at(1_000_000).start()?;
    /// server.load("SET lock alice PX 5000")?;
    /// let golden = "clock frozen 1000000\ndb0 lock string alice\ndb0 lock expires 1005000\n";
    /// assert_eq!(server.state(), golden);
    /// assert_eq!(server.state_of(&["nothing"]), "");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn state(&self) -> String {
        self.state_text(Keys::All)
    }

    /// Likewise, of some keys of database 0, without the clock.
    pub fn state_of(&self, keys: &[&str]) -> String {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        self.state_text(Keys::Of(0, &keys))
    }

    /// Executes lines of commands that read or write keys, all or none. Gives how many. In a cluster each node executes
    /// what is about keys of its slots.
    ///
    /// # Errors
    ///
    /// Which line is wrong, and why.
    pub fn load(&self, lines: &str) -> Result<u64, TestError> {
        self.without_script()?;
        self.first()?;
        fixture::load_everywhere(&self.stage, 0, lines.as_bytes()).map_err(TestError::Not)
    }

    fn state_text(&self, keys: Keys<'_>) -> String {
        let nodes = self.stage.look_at_all(|state| state.snapshot_or_now(NOW));
        let nodes: Vec<_> = nodes.into_iter().flatten().collect();
        state_text(&nodes, keys)
    }

    /// Refuses what would see or change data amid a script that is over its time.
    pub(super) fn without_script(&self) -> Result<(), TestError> {
        let busy = self.stage.look_at_all(|state| state.scripts.is_busy());
        match busy.contains(&true) {
            true => Err(TestError::Not(BUSY_SCRIPT.to_owned())),
            false => Ok(()),
        }
    }
}
