//! Where a server listens for TCP clients, which `CONFIG SET` may change while it runs.

use std::net::Shutdown;
use std::sync::Arc;
use std::sync::Weak;

use socket2::SockRef;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cluster::NodeIndex;
use crate::cluster::Topology;
use crate::config::Settings;
use crate::engine::Engine;
use crate::listener::Acceptor;
use crate::sockets;
use crate::start_error::StartError;
use crate::state::State;

/// The sockets that a server listens on, and what it takes to open others.
///
/// The engine holds this, so it must not hold the engine.
pub(crate) struct Listening {
    engine: Weak<Engine>,
    face: NodeIndex,
    topology: Option<Arc<Topology>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    runtime: Handle,
    /// Each belongs to the task that accepts on it.
    sockets: Vec<Weak<TcpListener>>,
    /// Ends those tasks.
    close: CancellationToken,
}

impl Listening {
    /// Nothing yet.
    pub(crate) fn new(acceptor: &Acceptor) -> Self {
        Self {
            engine: Arc::downgrade(&acceptor.engine),
            face: acceptor.face,
            topology: acceptor.topology.clone(),
            tasks: acceptor.tasks.clone(),
            stop: acceptor.stop.clone(),
            runtime: acceptor.runtime.clone(),
            sockets: Vec::new(),
            close: acceptor.stop.child_token(),
        }
    }

    /// Accepts clients on sockets that are bound.
    pub(crate) fn accept(&mut self, bound: Vec<std::net::TcpListener>) -> Result<(), StartError> {
        let Some(engine) = self.engine.upgrade() else {
            return Ok(());
        };
        let acceptor = Acceptor {
            engine,
            face: self.face,
            topology: self.topology.clone(),
            tasks: self.tasks.clone(),
            stop: self.stop.clone(),
            runtime: self.runtime.clone(),
        };
        let _runtime = self.runtime.enter();
        for socket in bound {
            let socket = TcpListener::from_std(socket).map_err(|source| StartError::Listen {
                address: "a bound socket".to_owned(),
                source,
            })?;
            let socket = Arc::new(socket);
            self.sockets.push(Arc::downgrade(&socket));
            let accepting = acceptor.clone().accept_tcp(socket, self.close.clone());
            // Whoever stops the server waits until the address is free.
            self.tasks.spawn_on(accepting, &self.runtime);
        }
        Ok(())
    }

    /// Stops to listen. The addresses are free when this returns: others may bind them although the
    /// tasks have yet to notice.
    fn close(&mut self) {
        self.close.cancel();
        self.close = self.stop.child_token();
        for socket in self.sockets.drain(..).filter_map(|socket| socket.upgrade()) {
            // It fails where the system knows no such thing; then the task closes the socket.
            let _ = SockRef::from(&*socket).shutdown(Shutdown::Both);
        }
    }

    /// Listens on the addresses of `settings` and no others. Gives how many these are.
    fn reopen(&mut self, settings: &Settings, port: u16) -> Result<usize, StartError> {
        self.close();
        if port == 0 {
            return Ok(0);
        }
        let (_, bound) = sockets::bind_tcp(settings, port)?;
        let count = bound.len();
        self.accept(bound)?;
        Ok(count)
    }
}

impl State {
    /// Listens where the configuration says, after `port` or `bind` was changed.
    ///
    /// A port of 0 that was just set closes all of them. One that was 0 at the start stays the one
    /// that was free then.
    ///
    /// # Errors
    ///
    /// [`StartError`] if an address cannot be listened on. Then it listens on none.
    pub(crate) fn relisten(&mut self, is_new_port: bool) -> Result<(), StartError> {
        let Some(listening) = &mut self.listening else {
            return Ok(());
        };
        let settings = self.config.settings();
        if is_new_port {
            self.info.port = settings.port;
        }
        let port = self.info.port;
        let count = listening.reopen(settings, port)?;
        let line = sockets::describe_tcp(settings, port, count);
        if let Some(cluster) = &mut self.cluster {
            let zone = settings.availability_zone.as_deref();
            cluster.listen_at(listening.face, port, &settings.cluster, zone);
        }
        let lines = &mut self.info.listeners;
        lines.retain(|line| !line.starts_with(sockets::TCP_LINE));
        lines.insert(0, line);
        Ok(())
    }
}
