//! A reference server, in a process of its own.

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
use std::time::Duration;

use crate::client::Arrival;
use crate::client::Client;
use crate::target::TOLERANCE_MS;
use crate::target::Target;
use crate::target::really_wait;

/// A process of the reference server, ended when this is dropped.
#[derive(Debug)]
pub struct Reference {
    process: Child,
    address: SocketAddr,
    /// Where it describes the cluster that it is.
    cluster_file: Option<PathBuf>,
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

    /// Starts `binary` as a cluster of one node, and waits until it serves all slots.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_in_cluster(binary: &str) -> Result<Self> {
        let dir = env::temp_dir();
        for _ in 0..STARTS_MAX {
            let port = free_port()?;
            // It describes the cluster in a file, which the next one must not find.
            let file = dir.join(format!(
                "tailrace-reference-{}-{port}.conf",
                std::process::id()
            ));
            let name = file.to_string_lossy().into_owned();
            // The bus has its own port, and none far above the other.
            let bus = free_port()?.to_string();
            let args = [
                "--cluster-enabled",
                "yes",
                "--cluster-config-file",
                &name,
                "--cluster-port",
                &bus,
            ];
            let Some(mut started) = Self::start_with(binary, port, &args)? else {
                continue;
            };
            started.cluster_file = Some(file);
            started.serve_all_slots()?;
            return Ok(started);
        }
        Err(Error::other("the reference server does not start"))
    }

    fn serve_all_slots(&self) -> Result<()> {
        let mut client = Client::connect(self.address)?;
        let mut ask = |words: &[&str]| {
            client.say(words);
            loop {
                client.poll(Some(Duration::from_secs(5)));
                if let Some(Arrival::Reply(reply)) = client.take() {
                    return reply;
                }
            }
        };
        ask(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
        for _ in 0..LOOKS_FOR_STATE {
            let info = ask(&["CLUSTER", "INFO"]);
            if info.text().starts_with(b"cluster_state:ok") {
                return Ok(());
            }
            really_wait(10);
        }
        Err(Error::other(
            "the reference server does not serve its slots",
        ))
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
                    cluster_file: None,
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
        if let Some(file) = &self.cluster_file {
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

/// Looks after which a cluster that is not whole stays so: the reference waits for two seconds first.
const LOOKS_FOR_STATE: usize = 1_000;

/// Ports tried before it is the binary's fault.
const STARTS_MAX: usize = 5;
