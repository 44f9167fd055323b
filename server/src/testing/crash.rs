//! What goes wrong around a server: connections that fail, a host that hangs, a restart; and how all is new again.

use std::time::Duration;

use super::Answer;
use super::TestError;
use super::TestServer;
use super::clock::millis;
use crate::double::condition::Place;
use crate::double::jobs;
use crate::double::jobs::Task;
use crate::double::outage::Fate;
use crate::double::victims::Victims;

/// How a server restarts, as its clients see it.
#[derive(Clone, Copy, Debug)]
#[must_use = "TestServer::restart does it"]
pub struct Restart {
    fate: Fate,
    down: Duration,
    loading: Duration,
    node: usize,
}

impl Restart {
    /// One after which all data are there.
    pub const fn keeping_data() -> Self {
        Self::with(Fate::Keep)
    }

    /// One that loses all data.
    pub const fn losing_data() -> Self {
        Self::with(Fate::Lose)
    }

    /// One that loses the groups of all streams.
    pub const fn losing_groups() -> Self {
        Self::with(Fate::LoseGroups)
    }

    /// New connections are closed at once for so long, by the server's clock.
    pub const fn down(mut self, down: Duration) -> Self {
        self.down = down;
        self
    }

    /// Then commands hear for so long that data are loaded.
    pub const fn loading(mut self, loading: Duration) -> Self {
        self.loading = loading;
        self
    }

    /// It is this primary of a cluster, counted from 0, and not the first.
    pub const fn of_node(mut self, node: usize) -> Self {
        self.node = node;
        self
    }

    const fn with(fate: Fate) -> Self {
        Self {
            fate,
            down: Duration::ZERO,
            loading: Duration::ZERO,
            node: 0,
        }
    }
}

impl TestServer {
    /// Closes the connections of the clients of this name, or of the one of this number, at once. Gives how many.
    ///
    /// # Errors
    ///
    /// If there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::start()?;
    /// let mut client = std::net::TcpStream::connect(server.addr())?;
    /// client.write_all(b"CLIENT SETNAME worker\r\n")?;
    /// client.read_exact(&mut [0; 5])?;
    /// assert_eq!(server.kill_client("worker")?, 1);
    /// assert_eq!(client.read(&mut [0; 5])?, 0);
    /// assert!(server.kill_client("worker").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kill_client(&self, client: &str) -> Result<usize, TestError> {
        self.kill(&Victims::Named(client.into()))
    }

    /// Closes the connections that read as a consumer last. What it has pending stays so. Gives how many.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn kill_consumer(
        &self,
        stream: &str,
        group: &str,
        consumer: &str,
    ) -> Result<usize, TestError> {
        let place = Place {
            stream: stream.into(),
            group: group.into(),
        };
        let consumer = consumer.into();
        self.kill(&Victims::Reading { place, consumer })
    }

    /// Stops the whole server, as a host does that hangs: nothing is executed and nothing becomes due. What this value
    /// does goes on.
    pub fn pause(&self) {
        self.stage.act_on_all(|state, _| state.set_paused(true));
    }

    /// Lets it go on. What had become due, and what clients had sent, has happened when that is answered.
    pub fn resume(&self) -> Answer<()> {
        let outcome = jobs::leave_from_outside(&self.stage, Task::Resume);
        Answer::new(Ok(outcome), |_| (), self.life.is_here())
    }

    /// Restarts it, or a node of it, as clients see that: all connections end, and what CONFIG SET changed is lost.
    ///
    /// # Errors
    ///
    /// If there is no such node, or a script is over its time.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tailrace_server::testing::{Restart, TestServer};
    ///
    /// let server = TestServer::builder().frozen_at(1_000_000).start()?;
    /// server.load("SET k v")?;
    /// server.restart(Restart::losing_data().down(Duration::from_millis(500)))?;
    /// assert_eq!(server.state_of(&["k"]), "");
    /// server.clock().advance(Duration::from_millis(500)).wait()?; // Now it can be connected to.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restart(&self, restart: Restart) -> Result<(), TestError> {
        self.without_script()?;
        let Restart {
            fate,
            down,
            loading,
            node,
        } = restart;
        let missing = || TestError::Not(format!("there is no primary {node}"));
        let engine = self.stage.engine(node).ok_or_else(missing)?;
        engine.with(|state, now| {
            state.restart(None, fate, (millis(down), millis(loading)), now);
        });
        Ok(())
    }

    /// Makes data, clock, faults, calls and settings what they were at the start, and ends waits. Connections stay, and so
    /// do snapshots.
    ///
    /// # Errors
    ///
    /// If a script is over its time.
    pub fn reset(&self) -> Result<(), TestError> {
        self.without_script()?;
        self.stage.act_on_all(|state, now| state.reset_double(now));
        Ok(())
    }

    fn kill(&self, victims: &Victims) -> Result<usize, TestError> {
        let engines = self.stage.engines();
        let killed = engines
            .iter()
            .map(|engine| engine.with(|state, _| victims.kill(state, None).0));
        match killed.sum() {
            0 => Err(TestError::Not(victims.describe())),
            count => Ok(count),
        }
    }
}
