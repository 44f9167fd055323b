//! The servers that transcripts can be played to.

use std::env;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Error;
use std::io::Result;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::ToSocketAddrs;
use std::process::Child;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// A running server.
pub trait Target {
    /// Where it listens.
    fn address(&self) -> SocketAddr;

    /// Whether it is the reference, whose word is law; it skips what only Tailrace does.
    fn is_reference(&self) -> bool;

    /// How far a number that depends on the clock may be off: nothing when the clock is moved by hand.
    fn tolerance_ms(&self) -> i64;

    /// Sets the wall clock.
    ///
    /// # Errors
    ///
    /// In words, if the clock is not one that can be set.
    fn set_clock(&mut self, unix_ms: u64) -> std::result::Result<(), String>;

    /// Lets time pass. What falls due meanwhile happens before this returns, or soon after.
    fn advance(&mut self, ms: u64);
}

/// A process of the reference server, ended when this is dropped.
#[derive(Debug)]
pub struct Reference {
    process: Child,
    /// Kept open, so that the server never writes into a closed pipe.
    _log: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Reference {
    /// The binary that `TAILRACE_REFERENCE` names.
    pub fn binary() -> Option<String> {
        env::var("TAILRACE_REFERENCE").ok()
    }

    /// Starts `binary` on a free port and waits until it accepts connections.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(binary: &str) -> Result<Self> {
        for _ in 0..STARTS_MAX {
            if let Some(started) = Self::start_on(binary, free_port()?)? {
                return Ok(started);
            }
        }
        Err(Error::other("the reference server does not start"))
    }

    /// `None` if somebody else took the port meanwhile.
    fn start_on(binary: &str, port: u16) -> Result<Option<Self>> {
        let mut process = Command::new(binary)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .args(["--enable-debug-command", "yes"])
            .current_dir(env::temp_dir())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipe = process.stdout.take();
        let mut log = BufReader::new(pipe.ok_or_else(|| Error::other("no pipe"))?);
        let mut line = String::new();
        while log.read_line(&mut line)? > 0 {
            if line.contains("Ready to accept connections") {
                return Ok(Some(Self {
                    process,
                    _log: log,
                    address: SocketAddr::from(([127, 0, 0, 1], port)),
                }));
            }
            line.clear();
        }
        process.wait()?;
        Ok(None)
    }
}

impl Target for Reference {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn is_reference(&self) -> bool {
        true
    }

    fn tolerance_ms(&self) -> i64 {
        TOLERANCE_MS
    }

    fn set_clock(&mut self, _: u64) -> std::result::Result<(), String> {
        Err("the reference keeps the time of its host".to_owned())
    }

    fn advance(&mut self, ms: u64) {
        really_wait(ms);
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // Only fails if the server has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A Tailrace that somebody else started, with a clock that goes by itself.
#[derive(Debug)]
pub struct Remote {
    address: SocketAddr,
}

impl Remote {
    /// The server that `TAILRACE_ADDR` names, if it is set.
    ///
    /// # Errors
    ///
    /// If the address cannot be resolved.
    pub fn from_environment() -> Option<Result<Self>> {
        let address = env::var("TAILRACE_ADDR").ok()?;
        Some(address.to_socket_addrs().and_then(|mut found| {
            let address = found.next().ok_or_else(|| Error::other("no address"))?;
            Ok(Self { address })
        }))
    }
}

impl Target for Remote {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn is_reference(&self) -> bool {
        false
    }

    fn tolerance_ms(&self) -> i64 {
        TOLERANCE_MS
    }

    fn set_clock(&mut self, _: u64) -> std::result::Result<(), String> {
        Err("a server elsewhere keeps the time of its host".to_owned())
    }

    fn advance(&mut self, ms: u64) {
        really_wait(ms);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a server with a clock of its own leaves no other way to let time pass"
)]
fn really_wait(ms: u64) {
    thread::sleep(Duration::from_millis(ms + 2));
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Ports tried before it is the binary's fault.
const STARTS_MAX: usize = 5;

/// What a busy machine may add between two steps of a story.
const TOLERANCE_MS: i64 = 1_500;
