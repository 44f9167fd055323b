//! A client in memory for tests that live on the server's own runtime.
//!
//! It gives the server turns and looks whether something came; it never sleeps, and gives up after a
//! number of turns.

use std::sync::Arc;

use tailrace_server::Cluster;
use tailrace_server::Config;
use tailrace_server::ManualClock;
use tailrace_server::Server;
use tailrace_server::cluster::NodeIndex;
use tailrace_storage::UnixMillis;

use crate::client::encode;
use crate::pipe::Far;
use crate::pipe::pipe;
use crate::value::Value;

/// One client.
#[derive(Debug)]
pub struct Caller {
    far: Far,
    input: Vec<u8>,
    /// How much of `input` has been given out.
    taken: usize,
}

impl Caller {
    /// Connects to `server`.
    pub fn connect(server: &Server) -> Self {
        let (near, far) = pipe();
        server.serve(near);
        Self {
            far,
            input: Vec::new(),
            taken: 0,
        }
    }

    /// Connects to a node of `cluster`.
    pub fn connect_to(cluster: &Cluster, node: NodeIndex) -> Self {
        let (near, far) = pipe();
        cluster.serve(node, near);
        Self {
            far,
            input: Vec::new(),
            taken: 0,
        }
    }

    /// Sends one command.
    pub fn send<W: AsRef<[u8]>>(&self, words: &[W]) {
        self.far.send(&encode(words));
    }

    /// Sends one command and waits for its reply.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub async fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Value {
        self.send(words);
        self.reply().await
    }

    /// Waits for the next reply.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub async fn reply(&mut self) -> Value {
        for _ in 0..TURNS_MAX {
            if let Some(value) = self.poll() {
                return value;
            }
            tokio::task::yield_now().await;
        }
        panic!(
            "no reply came; there is {:?}",
            self.input[self.taken..].escape_ascii().to_string()
        );
    }

    /// Waits until the server closes the connection, and gives what it wrote before that.
    ///
    /// # Panics
    ///
    /// If it does not close it.
    pub async fn rest(mut self) -> Vec<u8> {
        for _ in 0..TURNS_MAX {
            if self.far.is_closed() {
                self.input.append(&mut self.far.take());
                return self.input.split_off(self.taken);
            }
            tokio::task::yield_now().await;
        }
        panic!("the server does not close the connection");
    }

    /// Asserts that nothing comes, however long it waits.
    ///
    /// # Panics
    ///
    /// If something comes, or the server closes the connection.
    pub async fn assert_silent(&mut self) {
        settle().await;
        assert!(!self.far.is_closed(), "the server closed the connection");
        let value = self.poll();
        assert_eq!(value, None, "nothing was to come");
    }

    /// The next reply, if it is there.
    pub fn poll(&mut self) -> Option<Value> {
        if self.taken == self.input.len() {
            self.input = self.far.take();
            self.taken = 0;
        } else {
            self.input.append(&mut self.far.take());
        }
        let (value, len) = Value::parse(&self.input[self.taken..])?;
        self.taken += len;
        Some(value)
    }

    /// The connection itself, for faults.
    pub fn far(&self) -> &Far {
        &self.far
    }
}

/// Starts a server on the caller's runtime, configured by these lines, whose clock stands at one second.
///
/// # Panics
///
/// If the lines are wrong, or it cannot be started.
pub async fn start(config: &str) -> Server {
    start_with(
        config,
        &Arc::new(ManualClock::starting_at(UnixMillis(1_000))),
    )
    .await
}

/// As [`start`], with a clock of the caller's.
///
/// # Panics
///
/// If the lines are wrong, or it cannot be started.
pub async fn start_with(config: &str, clock: &Arc<ManualClock>) -> Server {
    let config = Config::embedded().with(config);
    let builder = Server::builder()
        .config(config.expect("the configuration is right"))
        .manual_clock(Arc::clone(clock));
    builder.start().await.expect("there is a free port")
}

/// Starts a cluster on the caller's runtime, configured by these lines, whose clock stands at one second.
///
/// # Panics
///
/// If the lines are wrong, or it cannot be started.
pub async fn start_cluster(config: &str) -> Cluster {
    let config = Config::embedded().with(config);
    let builder = Server::builder()
        .config(config.expect("the configuration is right"))
        .manual_clock(Arc::new(ManualClock::starting_at(UnixMillis(1_000))));
    Cluster::start(builder).await.expect("there are free ports")
}

/// Gives the server's tasks turns until they have nothing left to do. For servers on the runtime of the
/// caller, which has to be one of a single thread.
pub async fn settle() {
    for _ in 0..SETTLE_TURNS {
        tokio::task::yield_now().await;
    }
}

/// Turns after which a reply that has not come will not come.
const TURNS_MAX: usize = 100_000;
/// A client's longest way from its request to the end is a few turns; this leaves room for pipelines,
/// which the server executes in slices.
const SETTLE_TURNS: usize = 64;
