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
    time: Time,
}

/// How its time goes.
enum Time {
    /// As the test moves it.
    Manual(Arc<ManualClock>),
    /// As its host's.
    Real,
    /// As `TD CLOCK` says, which stands still at first.
    Double,
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
            time: Time::Manual(clock),
        })
    }

    /// Starts a test double, whose clock stands still, as a cluster of one node if that is asked for.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_double(in_cluster: bool) -> Result<Self, Box<dyn Error>> {
        let clock = EMBEDDED_CLOCK.0;
        let cluster = if in_cluster { CLUSTER } else { "" };
        let double = format!("testdouble yes\nseed 1\nclock frozen:{clock}\n{cluster}");
        let builder = builder_with(&double)?;
        Ok(Self {
            server: blocking::Server::start(builder)?,
            time: Time::Double,
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
            time: Time::Manual(clock),
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
            time: Time::Real,
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
            time: Time::Real,
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
            time: Time::Real,
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
        !matches!(self.time, Time::Real)
    }

    fn tolerance_ms(&self) -> i64 {
        match self.time {
            Time::Manual(_) | Time::Double => 0,
            Time::Real => TOLERANCE_MS,
        }
    }

    fn set_clock(&mut self, unix_ms: u64) -> Result<(), String> {
        let Time::Manual(clock) = &self.time else {
            return Err("this server keeps a time of its own".to_owned());
        };
        clock.set_wall(UnixMillis(unix_ms));
        self.server.advance(Millis(0));
        Ok(())
    }

    fn advance(&mut self, ms: u64) {
        match self.time {
            Time::Manual(_) => self.server.advance(Millis(ms)),
            Time::Real => really_wait(ms),
            Time::Double => panic!("the time of a test double is moved by TD CLOCK"),
        }
    }
}

/// A time of the age that transcripts are of: ids made by the clock have thirteen digits.
const EMBEDDED_CLOCK: UnixMillis = UnixMillis(1_750_000_000_000);
