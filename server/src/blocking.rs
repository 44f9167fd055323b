//! A server for programs without an async runtime.

use std::net::SocketAddr;

use tailrace_storage::Millis;
use tokio::runtime::Runtime;

use crate::server;
use crate::server::Builder;
use crate::start_error::StartError;

/// A running server on a runtime of its own. Dropping it stops it in order.
///
/// # Examples
///
/// ```
/// let server = tailrace_server::blocking::Server::start(tailrace_server::Server::builder())?;
/// let client = std::net::TcpStream::connect(server.addr());
/// # assert!(client.is_ok());
/// # Ok::<(), tailrace_server::StartError>(())
/// ```
pub struct Server {
    runtime: Runtime,
    server: Option<server::Server>,
}

/// How large the stack of a thread is that runs commands: as large as the reference's, since Lua matches
/// patterns by calls within calls.
pub const STACK_BYTES: usize = 8 * 1_024 * 1_024;

impl Server {
    /// Starts what `builder` describes.
    ///
    /// # Errors
    ///
    /// As [`Builder::start`]; also if the system gives no thread.
    pub fn start(builder: Builder) -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(builder.threads())
            .thread_name("tailrace")
            .thread_stack_size(STACK_BYTES)
            .enable_all()
            .build()
            .map_err(StartError::Runtime)?;
        let server = runtime.block_on(builder.start())?;
        Ok(Self {
            runtime,
            server: Some(server),
        })
    }

    /// The first address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.inner().addr()
    }

    /// Moves a manual clock; see [`server::Server::advance`].
    pub fn advance(&self, by: Millis) {
        self.inner().advance(by);
    }

    /// Stops in order, and reports a fault if there was one.
    pub fn stop(mut self) -> Option<String> {
        let server = self.server.take()?;
        self.runtime.block_on(server.stop())
    }

    fn inner(&self) -> &server::Server {
        self.server.as_ref().expect("only stop and drop take it")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}
