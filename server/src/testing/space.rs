//! Servers beside one that is there.

use std::sync::Arc;

use super::Life;
use super::TestServer;
use crate::double::snapshots::check_known;
use crate::double::spaces::Wish;
use crate::start_error::StartError;

/// A server that is to be beside another, with nothing in common but how it is started: see [`TestServer::new_space`].
#[must_use = "start() starts it"]
pub struct NewSpace<'a> {
    server: &'a TestServer,
    nodes: Option<usize>,
    from: Option<String>,
}

impl NewSpace<'_> {
    /// A cluster of so many nodes.
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = Some(nodes);
        self
    }

    /// One that begins with a snapshot of the other: with its data, its ledger and its clock, and again when it is
    /// reset. In a cluster each key goes to the node that has its slot.
    pub fn from(mut self, snapshot: &str) -> Self {
        self.from = Some(snapshot.to_owned());
        self
    }

    /// Starts it. It ends when it is dropped, or with the other.
    ///
    /// # Errors
    ///
    /// If the system gives no port, or there is no such snapshot, or that has keys in a database that the new one has not.
    pub fn start(self) -> Result<TestServer, StartError> {
        let server = self.server;
        let spaces = server.stage.seat.spaces.upgrade();
        let spaces = spaces.ok_or(StartError::Ending)?;
        let mut wish = Wish {
            nodes: self.nodes,
            has_no_port: server.addrs.is_empty(),
            ..Wish::default()
        };
        if let Some(name) = self.from {
            let name = name.as_bytes();
            let known = server.ask_first(|state| match &state.double {
                Some(double) => check_known(double, name),
                None => Ok(()),
            });
            known.map_err(|error| StartError::Fixture(error.to_string()))?;
            let nodes = server.stage.look_at_all(|state| state.snapshot(name));
            wish.from = nodes.into_iter().flatten().collect();
        }
        let id = spaces.start(&wish)?.id;
        let parts = spaces.parts(id).ok_or(StartError::Ending)?;
        let life = Life::Space {
            spaces: Arc::downgrade(&spaces),
            id,
            is_here: server.life.is_here(),
        };
        Ok(TestServer::of(parts, life))
    }
}

impl TestServer {
    /// Starts another server as this one was started, on the same thread, with nothing in common but that. It ends
    /// when it is dropped, or with this one.
    ///
    /// # Errors
    ///
    /// If the system gives no port.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::builder().frozen_at(1_000_000).start()?;
    /// let (one, other) = (server.space()?, server.space()?);
    /// one.clock().advance(Duration::from_secs(1)).wait()?;
    /// assert_eq!(one.clock().now(), 1_001_000);
    /// assert_eq!(other.clock().now(), 1_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn space(&self) -> Result<Self, StartError> {
        self.new_space().start()
    }

    /// Likewise, but for what more is said: see [`NewSpace`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::start()?;
    /// server.load("XADD jobs 1-1 task resize\nXADD news 1-1 text hello")?;
    /// server.snapshots().save("begun")?;
    /// let cluster = server.new_space().nodes(3).from("begun").start()?;
    /// assert_eq!(cluster.addrs().len(), 3);
    /// assert_eq!(cluster.state_of(&["jobs", "news"]), server.state_of(&["jobs", "news"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new_space(&self) -> NewSpace<'_> {
        NewSpace {
            server: self,
            nodes: None,
            from: None,
        }
    }
}
