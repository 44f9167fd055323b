//! What a server of a test is to be.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::TestServer;
use super::life::Life;
use super::life::Parts;
use super::life::Worker;
use crate::clock::TokioClock;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::config::ConfigError;
use crate::server::Server;
use crate::start_error::StartError;

/// What a [`TestServer`] is to be, before it starts.
#[derive(Clone)]
pub struct TestBuilder {
    config: Config,
}

impl Default for TestBuilder {
    fn default() -> Self {
        Self {
            config: Config::embedded().of_double(),
        }
    }
}

impl TestBuilder {
    /// One with these directives, as in redis.conf.
    ///
    /// # Errors
    ///
    /// What is wrong, in which line, and what to do about it.
    pub fn config(mut self, lines: &str) -> Result<Self, ConfigError> {
        self.config = self.config.with(lines)?;
        Ok(self)
    }

    /// One whose clock stands still at this time, in milliseconds since 1970.
    #[must_use]
    pub fn frozen_at(mut self, unix_ms: u64) -> Self {
        self.config.freeze_at(unix_ms);
        self
    }

    /// One whose chance starts from here: the same seed makes the same choices.
    #[must_use]
    pub fn seed(mut self, seed: u32) -> Self {
        self.config.set_seed(seed);
        self
    }

    /// A cluster of so many nodes, which the test holds as one.
    #[must_use]
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.config.set_nodes(nodes);
        self
    }

    /// A cluster, each primary of which has so many replicas.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.config.set_replicas(replicas);
        self
    }

    /// One that listens on no port: clients come by [`TestServer::connect`] only.
    #[must_use]
    pub fn without_port(mut self) -> Self {
        self.config.listen_nowhere();
        self
    }

    /// Starts it on a thread of its own.
    ///
    /// # Errors
    ///
    /// If the system gives no thread or no port.
    pub fn start(self) -> Result<TestServer, StartError> {
        let (parts, worker) = Worker::start(self.config)?;
        Ok(TestServer::of(parts, Life::Worker(worker)))
    }

    /// Starts it as tasks of the caller's runtime, without a port, by tokio's clock. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be had, as with more than a thousand nodes.
    pub fn start_here(mut self) -> Result<TestServer, StartError> {
        self.config.listen_nowhere();
        let clock = Arc::new(TokioClock::on(Handle::current()));
        let builder = Server::builder().config(self.config).clock(clock);
        let cluster = Cluster::launch(builder)?;
        let parts = Parts::of(&cluster).expect("it is a double");
        Ok(TestServer::of(parts, Life::Here(Some(cluster))))
    }
}
