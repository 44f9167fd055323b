//! A server in the hands of a Rust test, without a process, and without a port if none is wanted.
//!
//! [`TestServer`] is what `tailrace --testdouble` is: the same engine, with a [clock](TestServer::clock) that the test
//! holds, [faults](TestServer::fault), [waits](TestServer::wait) for what is to happen, the [calls](TestServer::calls)
//! that clients made, [snapshots](TestServer::snapshots), the [ledger](TestServer::ledger), what happens to a
//! [cluster](TestServer::cluster), and [spaces](TestServer::space) beside it. It runs in one of two ways:
//!
//! - [`TestServer::start`]: on a thread of its own, on a free port of 127.0.0.1. Tests with and without an async
//!   runtime can use it: what takes time is an [`Answer`], which is awaited or waited for.
//! - [`TestServer::start_here`]: as tasks of the caller's runtime, for clients in memory, and by tokio's clock. With
//!   `tokio::time::pause` the server's time stands still, and `tokio::time::advance` moves it along with the program's.
//!
//! # Examples
//!
//! ```
//! use std::io::{Read, Write};
//! use tailrace_server::testing::TestServer;
//!
//! let server = TestServer::builder().frozen_at(1_000_000).start()?;
//! let mut client = std::net::TcpStream::connect(server.addr())?;
//! client.write_all(b"XADD jobs * task resize\r\n")?;
//! let mut reply = [0; 64];
//! let count = client.read(&mut reply)?;
//! assert_eq!(&reply[..count], b"$9\r\n1000000-0\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! By tokio's clock, in one task:
//!
//! ```
//! use std::time::Duration;
//! use tailrace_server::testing::TestServer;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! tokio::time::pause();
//! let server = TestServer::start_here()?;
//! let mut client = server.connect();
//! client.write_all(b"XREAD BLOCK 3600000 STREAMS jobs $\r\n").await?;
//! server.wait().blocked(1).await?;
//! tokio::time::advance(Duration::from_secs(3_600)).await;
//! let mut reply = [0; 5];
//! client.read_exact(&mut reply).await?;
//! assert_eq!(&reply, b"*-1\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod builder;
mod calls;
mod clock;
mod cluster;
mod crash;
mod error;
mod fault;
mod filter;
mod ledger;
mod life;
mod snapshots;
mod space;
mod wait;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::DuplexStream;

pub use self::answer::Answer;
pub use self::builder::TestBuilder;
pub use self::calls::CallRecord;
pub use self::calls::Calls;
pub use self::clock::TestClock;
pub use self::cluster::Slot;
pub use self::cluster::TestCluster;
pub use self::crash::Restart;
pub use self::error::TestError;
pub use self::fault::Fault;
pub use self::fault::Happens;
pub use self::fault::NewFault;
pub use self::ledger::ConsumerLedger;
pub use self::ledger::Ledger;
pub use self::ledger::LedgerSummary;
pub use self::ledger::LedgerSums;
use self::life::Life;
pub(crate) use self::life::Parts;
pub use self::snapshots::SnapshotRecord;
pub use self::snapshots::Snapshots;
pub use self::space::NewSpace;
pub use self::wait::Amount;
pub use self::wait::Wait;
use crate::double::spaces::url;
use crate::double::stage::Stage;
use crate::engine::Engine;
use crate::listener::Acceptor;
use crate::listener::Peer;
use crate::start_error::StartError;
use crate::state::State;

/// A server, or a cluster, in the hands of a test. Dropping it ends it.
pub struct TestServer {
    stage: Arc<Stage>,
    /// What accepts clients for each node.
    doors: Vec<Acceptor>,
    addrs: Vec<SocketAddr>,
    life: Life,
}

impl TestServer {
    /// Starts one on a thread of its own and a free port of 127.0.0.1, whose clock goes as the host's.
    ///
    /// # Errors
    ///
    /// If the system gives no thread or no port.
    pub fn start() -> Result<Self, StartError> {
        Self::builder().start()
    }

    /// Starts one as tasks of the caller's runtime, without a port, by tokio's clock. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    ///
    /// None with the default configuration.
    pub fn start_here() -> Result<Self, StartError> {
        Self::builder().start_here()
    }

    /// What a server is to be.
    pub fn builder() -> TestBuilder {
        TestBuilder::default()
    }

    /// Where it listens; the first of its nodes if it is a cluster.
    ///
    /// # Panics
    ///
    /// If it was started without a port.
    pub fn addr(&self) -> SocketAddr {
        *self.addrs.first().expect("it was started with a port")
    }

    /// Where all of its nodes listen; nothing if it was started without a port.
    pub fn addrs(&self) -> &[SocketAddr] {
        &self.addrs
    }

    /// As [`Self::addr`], as clients like it: `redis://127.0.0.1:PORT`.
    ///
    /// # Panics
    ///
    /// If it was started without a port.
    pub fn url(&self) -> String {
        url(&self.addr())
    }

    /// Connects a client in memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use tailrace_server::testing::TestServer;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(async {
    /// let server = TestServer::builder().without_port().start()?;
    /// let mut client = server.connect();
    /// client.write_all(b"PING\r\n").await?;
    /// let mut reply = [0; 7];
    /// client.read_exact(&mut reply).await?;
    /// assert_eq!(&reply, b"+PONG\r\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn connect(&self) -> DuplexStream {
        self.connect_to(0)
    }

    /// Connects a client in memory to one of the nodes, in the order of [`Self::addrs`].
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn connect_to(&self, node: usize) -> DuplexStream {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        self.doors[node].serve_stream(near, Peer::embedded());
        far
    }

    /// The time that the server goes by.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::builder().frozen_at(1_000_000).start()?;
    /// assert_eq!(server.clock().advance(Duration::from_secs(60)).wait()?, 1_060_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clock(&self) -> TestClock<'_> {
        TestClock(self)
    }

    /// Begins a fault of this name: see [`NewFault`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use tailrace_server::testing::{Happens, TestServer};
    ///
    /// let server = TestServer::start()?;
    /// // The command is executed, and the reply is lost with the connection.
    /// let lost = server.fault("lost").command("XADD").after(Happens::Close)?;
    /// let mut client = std::net::TcpStream::connect(server.addr())?;
    /// client.write_all(b"XADD jobs * task resize\r\n")?;
    /// assert_eq!(client.read(&mut [0; 64])?, 0);
    /// assert_eq!(lost.hits(), 1);
    /// server.wait().len("jobs", 1).wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fault(&self, name: &str) -> NewFault<'_> {
        NewFault::new(self, name)
    }

    /// Waits until something holds: see [`Wait`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::start()?;
    /// let vain = server.wait().within(Duration::ZERO).blocked(1).wait();
    /// let words = "after 0 ms the number of clients that wait so is 0, and not = 1; nobody waits";
    /// assert_eq!(vain.unwrap_err().to_string(), words);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(&self) -> Wait<'_> {
        Wait::new(self)
    }

    /// What clients asked, and what they heard: see [`Calls`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::start()?;
    /// let mut client = std::net::TcpStream::connect(server.addr())?;
    /// client.write_all(b"ECHO hello\r\n")?;
    /// client.read(&mut [0; 64])?;
    /// let calls = server.calls().command("ECHO").list()?;
    /// assert_eq!(calls[0].call, [b"ECHO".to_vec(), b"hello".to_vec()]);
    /// assert_eq!(calls[0].reply, b"$5\r\nhello\r\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calls(&self) -> Calls<'_> {
        Calls::new(self)
    }

    /// What becomes of entries: see [`Ledger`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use tailrace_server::testing::TestServer;
    ///
    /// let server = TestServer::builder().frozen_at(1_000_000).start()?;
    /// server.ledger().on();
    /// let mut client = std::net::TcpStream::connect(server.addr())?;
    /// for line in ["XADD jobs * task resize", "XGROUP CREATE jobs workers 0", "XREADGROUP GROUP workers alice STREAMS jobs >"] {
    ///     client.write_all(format!("{line}\r\n").as_bytes())?;
    ///     client.read(&mut [0; 256])?;
    /// }
    /// let lost = server.wait().now().at_least_once("jobs", "workers").wait();
    /// assert!(lost.unwrap_err().to_string().contains("1000000-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger(self)
    }

    /// Ends it in order: what was read is answered. Gives what stopped it for good before, if a command panicked.
    pub async fn stop(mut self) -> Option<String> {
        self.life.stop().await
    }

    /// The engine of its first node.
    fn first(&self) -> Result<Arc<Engine>, TestError> {
        self.stage.engine(0).ok_or(TestError::Ended)
    }

    /// Asks the first of its nodes.
    fn ask_first<T>(&self, ask: impl FnOnce(&State) -> Result<T, String>) -> Result<T, TestError> {
        self.first()?.look(ask).map_err(TestError::Not)
    }
}

/// How much each direction of a connection in memory holds before whoever writes has to wait.
const PIPE_BYTES: usize = 64 * 1_024;
