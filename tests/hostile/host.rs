//! A server in a process of its own, so that its memory and its file descriptors are not those of the tests.

use std::env;
use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_server::blocking;
use tailrace_server::open_files;

/// The process; it ends with this value.
pub(super) struct Host {
    process: Child,
    address: SocketAddr,
    /// Resident memory before anybody came.
    bytes_at_start: u64,
}

impl Host {
    /// Starts a server with these lines of configuration.
    pub(super) fn start(config: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "hostile::host::serves_until_its_input_ends",
                "--nocapture",
            ])
            .env(CONFIG, config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address =
            lines.find_map(|line| line.unwrap().strip_prefix(ANNOUNCEMENT).map(str::to_owned));
        let mut host = Self {
            process,
            address: address
                .expect("the server says where it listens")
                .parse()
                .unwrap(),
            bytes_at_start: 0,
        };
        host.bytes_at_start = host.status("VmRSS:");
        host
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection that does not wait for more than [`PATIENCE`].
    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(super::neighbour::PATIENCE))
            .unwrap();
        stream
    }

    /// Asserts that at no time it held more than so much above what it held at the start.
    pub(super) fn assert_grown_at_most(&self, bytes: u64) {
        let grown = self.status("VmHWM:").saturating_sub(self.bytes_at_start);
        println!("grown by {} KiB at most", grown / 1_024);
        assert!(
            grown <= bytes,
            "the server has grown by {grown} bytes, more than {bytes}"
        );
    }

    fn status(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(field))
            .unwrap();
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kib * 1_024
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let status = self.process.wait();
        // Not to panic while a test fails.
        if !std::thread::panicking() {
            assert!(status.unwrap().success(), "the server did not end in order");
        }
    }
}

/// The server's side: a test that does nothing unless it is started by [`Host::start`].
#[test]
fn serves_until_its_input_ends() {
    let Ok(config) = env::var(CONFIG) else {
        return;
    };
    let config = Config::embedded().with(&config).unwrap();
    // Fewer clients than that is a matter of the test that needs them.
    let _ = open_files::allow(config.settings().maxclients);
    let server = blocking::Server::start(Server::builder().config(config)).unwrap();
    println!("\n{ANNOUNCEMENT}{}", server.addr());
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let fault = server.stop();
    // The harness would tell of this test, and nobody listens.
    std::process::exit(i32::from(fault.is_some()));
}

const CONFIG: &str = "TAILRACE_TEST_HOST";
const ANNOUNCEMENT: &str = "serving ";
