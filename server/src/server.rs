//! Starts a server in this process, and stops it in order.

mod builder;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;

use crate::clock::Clock;
use crate::clock::ManualClock;
use crate::cluster::NodeIndex;
use crate::double::spaces::Root;
use crate::engine::Engine;
use crate::listener::Acceptor;
use crate::listener::Peer;

pub use self::builder::Builder;
pub(crate) use self::builder::Face;
pub(crate) use self::builder::SetLogLevel;

/// A running server. Dropping it ends it at once; [`Server::stop`] ends it in order.
pub struct Server {
    acceptor: Acceptor,
    addrs: Vec<SocketAddr>,
    unix_path: Option<String>,
    manual: Option<Arc<ManualClock>>,
    /// What goes on beside the clients.
    tasks: Vec<tokio::task::AbortHandle>,
    /// The spaces of a test double, which end with it.
    spaces: Option<Root>,
}

impl Server {
    /// The first address that it listened on when it started.
    ///
    /// # Panics
    ///
    /// If it listens on no TCP port, which a configuration may ask for.
    pub fn addr(&self) -> SocketAddr {
        *self
            .addrs
            .first()
            .expect("the server listens on a TCP port")
    }

    /// All TCP addresses that it listened on when it started.
    pub fn addrs(&self) -> &[SocketAddr] {
        &self.addrs
    }

    /// The path of its Unix socket, if it has one.
    pub fn unix_path(&self) -> Option<&str> {
        self.unix_path.as_deref()
    }

    /// Serves one client on any stream of bytes, without a socket. May be called on any thread; the
    /// client is served on the runtime on which the server was started.
    pub fn serve<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.acceptor.serve_stream(stream, Peer::embedded());
    }

    /// As [`Self::serve`], at one of its nodes.
    pub(crate) fn serve_at<S>(&self, node: NodeIndex, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let acceptor = Acceptor {
            face: node,
            ..self.acceptor.clone()
        };
        acceptor.serve_stream(stream, Peer::embedded());
    }

    /// Takes along what belongs to a test double: what does its jobs, and the spaces beside it.
    pub(crate) fn adopt(&mut self, driver: tokio::task::AbortHandle, spaces: Option<Root>) {
        self.tasks.push(driver);
        self.spaces = spaces;
    }

    /// What accepts its clients.
    pub(crate) fn acceptor(&self) -> &Acceptor {
        &self.acceptor
    }

    /// Moves a manual clock. When this returns, everything that became due has happened, and its
    /// replies have been written to their sockets; a stream given to [`Self::serve`] is written by its
    /// client's task, in its next turn.
    ///
    /// # Panics
    ///
    /// If the server was not started with a manual clock.
    pub fn advance(&self, by: Millis) {
        Self::advance_all(std::slice::from_ref(self), by);
    }

    /// Moves the clock that some servers have in common.
    pub(crate) fn advance_all(servers: &[Self], by: Millis) {
        let clock = servers.first().and_then(|server| server.manual.as_ref());
        let clock = clock.expect("the clock is a manual one");
        let on_time = || {
            let next = servers
                .iter()
                .map(|server| server.acceptor.engine.on_time());
            // Each does what is due.
            next.fold(None, |first, next| match (first, next) {
                (Some(first), Some(next)) => Some(std::cmp::min::<Instant>(first, next)),
                (first, next) => first.or(next),
            })
        };
        // Deadline by deadline, so that what happens at one sees its own instant.
        let end = clock.now().mono + by;
        while let Some(next) = on_time()
            && next <= end
        {
            clock.advance_to(next);
        }
        clock.advance_to(end);
        on_time();
    }

    /// Its engine.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.acceptor.engine
    }

    /// Whether any client is connected, to a space of a test double, too.
    pub fn has_clients(&self) -> bool {
        let has_own = self
            .acceptor
            .engine
            .with(|state, _| !state.clients.is_empty());
        has_own || self.spaces.as_ref().is_some_and(Root::has_clients)
    }

    /// Waits until a client asks the server to end, by `SHUTDOWN`.
    pub async fn ended(&self) {
        self.acceptor.engine.ending.notified().await;
    }

    /// What stopped the server for good, if a command panicked.
    pub fn fault(&self) -> Option<String> {
        self.acceptor.engine.with(|state, _| state.fault.clone())
    }

    /// Stops accepting, answers what was read, closes every connection, and reports a fault if
    /// there was one. Clients that do not take their replies are given up after a second.
    pub async fn stop(self) -> Option<String> {
        self.begin_to_stop();
        if let Some(spaces) = &self.spaces {
            spaces.stop().await;
        }
        self.acceptor.tasks.close();
        let all_closed = self.acceptor.tasks.wait();
        if tokio::time::timeout(STOP_GRACE, all_closed).await.is_err() {
            tracing::warn!("clients that do not read their replies were cut off");
        }
        self.fault()
    }

    /// Stops accepting, and lets every connection close once what was read is answered.
    pub(crate) fn begin_to_stop(&self) {
        self.acceptor.stop.cancel();
        self.acceptor.engine.with(|state, _| {
            state.scripts.kill();
            for client in state.clients.iter() {
                client.link.close();
            }
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.acceptor.stop.cancel();
        self.tasks.iter().for_each(tokio::task::AbortHandle::abort);
        self.acceptor.engine.with(|state, _| {
            state.scripts.kill();
            for client in state.clients.iter() {
                client.link.kill();
            }
            if let Some(double) = &mut state.double {
                double.end();
            }
        });
        if let Some(path) = &self.unix_path {
            // Somebody may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How long a stop waits for clients to take their replies.
const STOP_GRACE: Duration = Duration::from_secs(1);
