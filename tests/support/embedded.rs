//! A Tailrace in the process of the tests.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use tailrace_server::Builder;
use tailrace_server::Config;
use tailrace_server::ManualClock;
use tailrace_server::Server;
use tailrace_server::blocking;
use tailrace_storage::Millis;
use tailrace_storage::UnixMillis;

use crate::target::TOLERANCE_MS;
use crate::target::Target;
use crate::target::really_wait;

/// A Tailrace in this process.
pub struct Embedded {
    server: blocking::Server,
    /// `None` if it keeps the time of its host.
    clock: Option<Arc<ManualClock>>,
}

impl Embedded {
    /// Starts one on a free port whose clock stands still until it is moved.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start() -> Result<Self, Box<dyn Error>> {
        let clock = Arc::new(ManualClock::starting_at(EMBEDDED_CLOCK));
        let builder = builder()?.manual_clock(Arc::clone(&clock));
        Ok(Self {
            server: blocking::Server::start(builder)?,
            clock: Some(clock),
        })
    }

    /// Starts a cluster of one node, whose clock stands still as well.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_in_cluster() -> Result<Self, Box<dyn Error>> {
        let clock = Arc::new(ManualClock::starting_at(EMBEDDED_CLOCK));
        let builder = builder_with(CLUSTER)?.manual_clock(Arc::clone(&clock));
        Ok(Self {
            server: blocking::Server::start(builder)?,
            clock: Some(clock),
        })
    }

    /// As [`Self::start_in_cluster`], but it keeps the time of its host.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_in_cluster_in_time() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            server: blocking::Server::start(builder_with(CLUSTER)?)?,
            clock: None,
        })
    }

    /// Starts a test double whose clock is its host's, as part of a cluster of one node if that is asked for.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_double_in_time(in_cluster: bool) -> Result<Self, Box<dyn Error>> {
        let cluster = if in_cluster { CLUSTER } else { "" };
        let builder = builder_with(&format!("testdouble yes\nclock real\n{cluster}"))?;
        Ok(Self {
            server: blocking::Server::start(builder)?,
            clock: None,
        })
    }

    /// Starts one on a free port that keeps the time of its host, as the reference does.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_in_time() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            server: blocking::Server::start(builder()?)?,
            clock: None,
        })
    }
}

/// As the reference is started.
fn builder() -> Result<Builder, Box<dyn Error>> {
    builder_with("")
}

fn builder_with(lines: &str) -> Result<Builder, Box<dyn Error>> {
    let config = Config::embedded().with("save ''\nenable-debug-command yes")?;
    Ok(Server::builder().config(config.with(lines)?))
}

const CLUSTER: &str = "cluster-enabled yes";

impl Target for Embedded {
    fn address(&self) -> SocketAddr {
        self.server.addr()
    }

    fn is_reference(&self) -> bool {
        false
    }

    fn has_manual_clock(&self) -> bool {
        self.clock.is_some()
    }

    fn tolerance_ms(&self) -> i64 {
        match self.clock {
            Some(_) => 0,
            None => TOLERANCE_MS,
        }
    }

    fn set_clock(&mut self, unix_ms: u64) -> Result<(), String> {
        let clock = self.clock.as_ref();
        let clock = clock.ok_or("this server keeps the time of its host")?;
        clock.set_wall(UnixMillis(unix_ms));
        self.server.advance(Millis(0));
        Ok(())
    }

    fn advance(&mut self, ms: u64) {
        match self.clock {
            Some(_) => self.server.advance(Millis(ms)),
            None => really_wait(ms),
        }
    }
}

/// A time of the age that transcripts are of: ids made by the clock have thirteen digits.
const EMBEDDED_CLOCK: UnixMillis = UnixMillis(1_750_000_000_000);
