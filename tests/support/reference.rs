//! A reference server, in a process of its own.

mod cluster;

use std::env;
use std::fs;
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Error;
use std::io::Result;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Child;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::thread;

use crate::target::TOLERANCE_MS;
use crate::target::Target;
use crate::target::really_wait;

/// A process of the reference server, ended when this is dropped.
#[derive(Debug)]
pub struct Reference {
    process: Child,
    address: SocketAddr,
    /// As a node of a cluster: the port of its bus, and where it describes the cluster.
    node: Option<(u16, PathBuf)>,
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
        Self::start_with(binary, port, &[])
    }

    fn start_with(binary: &str, port: u16, args: &[&str]) -> Result<Option<Self>> {
        let mut process = Command::new(binary)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .args(["--enable-debug-command", "yes"])
            .args(args)
            .current_dir(env::temp_dir())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipe = process.stdout.take();
        let mut log = BufReader::new(pipe.ok_or_else(|| Error::other("no pipe"))?);
        let mut line = String::new();
        while log.read_line(&mut line)? > 0 {
            if line.contains("Ready to accept connections") {
                read_away(log);
                return Ok(Some(Self {
                    process,
                    address: SocketAddr::from(([127, 0, 0, 1], port)),
                    node: None,
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

    fn has_manual_clock(&self) -> bool {
        false
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
        if let Some((_, file)) = &self.node {
            let _ = fs::remove_file(file);
        }
    }
}

/// Reads a log until its server ends: one that nobody reads would stop the server when the pipe is full.
fn read_away(mut log: BufReader<ChildStdout>) {
    thread::spawn(move || io::copy(&mut log, &mut io::sink()));
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Ports tried before it is the binary's fault.
const STARTS_MAX: usize = 5;
