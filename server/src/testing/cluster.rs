//! A cluster in the hands of a Rust test.

use tailrace_storage::SLOT_COUNT;
use tailrace_storage::key_slot;

use super::TestError;
use super::TestServer;
use crate::cluster::NodeIndex;
use crate::double::cluster;
use crate::double::cluster::Asker;
use crate::double::cluster::Change;
use crate::double::commands::NO_CLUSTER;
use crate::double::jobs::Outcome;

/// What happens to the cluster that a test holds, at once for all of its nodes. Nodes go by their number, in the order of
/// [`TestServer::addrs`], and slots by theirs or by a key.
///
/// # Errors
///
/// Each method says what is the case instead if that cannot be: there is no such node or slot, the slot is there
/// already, no replica is up.
#[derive(Clone, Copy)]
pub struct TestCluster<'a>(&'a TestServer);

/// A hash slot, by its number or by a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Slot(u16);

impl From<u16> for Slot {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl From<&str> for Slot {
    fn from(key: &str) -> Self {
        Self(key_slot(key.as_bytes()))
    }
}

impl TestServer {
    /// The cluster that it is: see [`TestCluster`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::builder().nodes(2).start()?;
    /// server.cluster().move_slot("jobs", 0)?;
    /// let mut client = std::net::TcpStream::connect(server.addrs()[1])?;
    /// client.write_all(b"GET jobs\r\n")?;
    /// let mut reply = [0; 6];
    /// client.read_exact(&mut reply)?;
    /// assert_eq!(&reply, b"-MOVED");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cluster(&self) -> TestCluster<'_> {
        TestCluster(self)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "the type says it for all of them"
)]
impl TestCluster<'_> {
    /// Gives a slot with its keys to a node, at once for everybody.
    pub fn move_slot(self, slot: impl Into<Slot>, node: usize) -> Result<(), TestError> {
        let (slot, node) = (within(slot)?, self.node(node)?);
        self.apply(Change::Move(slot, node))
    }

    /// Lets a slot be on its way to a node: clients meet ASK and TRYAGAIN.
    pub fn migrate(self, slot: impl Into<Slot>, node: usize) -> Result<(), TestError> {
        let (slot, node) = (within(slot)?, self.node(node)?);
        self.apply(Change::Begin(slot, node))
    }

    /// Lets a slot that is on its way arrive, with all its keys.
    pub fn end_migration(self, slot: impl Into<Slot>) -> Result<(), TestError> {
        self.apply(Change::End(within(slot)?))
    }

    /// Lets a slot that is on its way stay, with all its keys.
    pub fn cancel_migration(self, slot: impl Into<Slot>) -> Result<(), TestError> {
        self.apply(Change::Cancel(within(slot)?))
    }

    /// Lets a replica take its primary's place; of a primary, its first replica does.
    pub fn fail_over(self, node: usize) -> Result<(), TestError> {
        self.apply(Change::FailOver(self.node(node)?))
    }

    /// Takes a node down: its connections end, it takes no others, and others show it as failed.
    pub fn kill(self, node: usize) -> Result<(), TestError> {
        self.apply(Change::Kill(self.node(node)?))
    }

    /// Brings a node back, with its data.
    pub fn revive(self, node: usize) -> Result<(), TestError> {
        self.apply(Change::Revive(self.node(node)?))
    }

    /// Lets a node go on with what it knows of the cluster, so that it sends clients to the wrong nodes.
    pub fn keep_stale(self, node: usize) -> Result<(), TestError> {
        self.apply(Change::Keep(self.node(node)?))
    }

    /// Lets a stale node learn what is the case. What it took on for slots of others is lost.
    pub fn catch_up(self, node: usize) -> Result<(), TestError> {
        self.apply(Change::CatchUp(self.node(node)?))
    }

    fn node(self, node: usize) -> Result<NodeIndex, TestError> {
        let count = self.0.doors.len();
        match node < count {
            true => Ok(NodeIndex::new(node)),
            false => Err(TestError::Not(format!(
                "there is no node {node} among the {count}, which count from 0"
            ))),
        }
    }

    fn apply(self, change: Change) -> Result<(), TestError> {
        let server = self.0;
        server.without_script()?;
        let topology = server.ask_first(|state| match &state.cluster {
            Some(cluster) => Ok(cluster.shared_topology()),
            None => Err(NO_CLUSTER.to_owned()),
        })?;
        // No client has this number.
        let asker = Asker {
            number: 0,
            now_ms: server.clock().now(),
        };
        match cluster::apply(&server.stage, &topology, change, asker) {
            Outcome::Failed(reason) => Err(TestError::Not(reason)),
            _ => Ok(()),
        }
    }
}

/// The number of a slot that there is.
fn within(slot: impl Into<Slot>) -> Result<u16, TestError> {
    let Slot(number) = slot.into();
    match number < SLOT_COUNT {
        true => Ok(number),
        false => Err(TestError::Not(format!(
            "there is no slot {number}; the last is {}",
            SLOT_COUNT - 1
        ))),
    }
}
