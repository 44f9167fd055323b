//! A Tailrace in the process of the tests.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use tailrace_server::Config;
use tailrace_server::ManualClock;
use tailrace_server::Server;
use tailrace_server::blocking;
use tailrace_storage::Millis;
use tailrace_storage::UnixMillis;

use crate::target::Target;

/// A Tailrace in this process, whose clock stands still until it is moved.
pub struct Embedded {
    server: blocking::Server,
    clock: Arc<ManualClock>,
}

impl Embedded {
    /// Starts one on a free port.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start() -> Result<Self, Box<dyn Error>> {
        // As the reference is started.
        let config = Config::embedded().with("save ''\nenable-debug-command yes")?;
        let clock = Arc::new(ManualClock::starting_at(EMBEDDED_CLOCK));
        let builder = Server::builder()
            .config(config)
            .manual_clock(Arc::clone(&clock));
        Ok(Self {
            server: blocking::Server::start(builder)?,
            clock,
        })
    }
}

impl Target for Embedded {
    fn address(&self) -> SocketAddr {
        self.server.addr()
    }

    fn is_reference(&self) -> bool {
        false
    }

    fn has_manual_clock(&self) -> bool {
        true
    }

    fn tolerance_ms(&self) -> i64 {
        0
    }

    fn set_clock(&mut self, unix_ms: u64) -> Result<(), String> {
        self.clock.set_wall(UnixMillis(unix_ms));
        self.server.advance(Millis(0));
        Ok(())
    }

    fn advance(&mut self, ms: u64) {
        self.server.advance(Millis(ms));
    }
}

/// A time of the age that transcripts are of: ids made by the clock have thirteen digits.
const EMBEDDED_CLOCK: UnixMillis = UnixMillis(1_750_000_000_000);
