//! What a server of a test lives on, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Weak;
use std::sync::mpsc;
use std::thread;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::TestServer;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::double::spaces::Spaces;
use crate::double::stage::Stage;
use crate::listener::Acceptor;
use crate::server::Server;
use crate::start_error::StartError;

/// What a test needs to hold of a server.
pub(crate) struct Parts {
    pub(crate) stage: Arc<Stage>,
    /// What accepts clients for each node.
    pub(crate) doors: Vec<Acceptor>,
    pub(crate) addrs: Vec<SocketAddr>,
}

impl Parts {
    /// Those of a test double.
    pub(crate) fn of(cluster: &Cluster) -> Option<Self> {
        let engine = cluster.servers().first()?.engine();
        let stage = engine.look(|state| {
            let double = state.double.as_ref()?;
            Some(Arc::clone(&double.stage))
        })?;
        Some(Self {
            stage,
            doors: cluster.doors(),
            addrs: cluster.addrs(),
        })
    }
}

/// What a server lives on.
pub(super) enum Life {
    /// A thread of its own.
    Worker(Worker),
    /// The caller's runtime. Nothing once it was stopped.
    Here(Option<Cluster>),
    /// The server that it is a space of.
    Space {
        spaces: Weak<Spaces>,
        id: u64,
        is_here: bool,
    },
}

impl Life {
    /// Whether the caller's thread may be the one that serves.
    pub(super) fn is_here(&self) -> bool {
        match self {
            Self::Worker(_) => false,
            Self::Here(_) => true,
            Self::Space { is_here, .. } => *is_here,
        }
    }

    /// Ends it in order.
    pub(super) async fn stop(&mut self) -> Option<String> {
        match self {
            Self::Worker(worker) => worker.stop().await,
            Self::Here(cluster) => cluster.take()?.stop().await,
            Self::Space { spaces, id, .. } => {
                if let Some(spaces) = spaces.upgrade() {
                    spaces.free(*id).await;
                }
                None
            }
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if let Self::Space { spaces, id, .. } = self
            && let Some(spaces) = spaces.upgrade()
        {
            spaces.free_soon(*id);
        }
    }
}

/// A thread with a runtime on which a server lives. Dropping it ends both.
pub(super) struct Worker {
    /// Dropped to end the server.
    stop: Option<oneshot::Sender<()>>,
    stopped: Option<oneshot::Receiver<Option<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(config: Config) -> Result<(Parts, Self), StartError> {
        let (stop, is_stopping) = oneshot::channel();
        let (tell_stopped, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let live = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(tell.send(Err(StartError::Runtime(error)))),
            };
            runtime.block_on(async move {
                let builder = Server::builder().config(config);
                let cluster = match Cluster::launch(builder) {
                    Ok(cluster) => cluster,
                    Err(error) => return drop(tell.send(Err(error))),
                };
                let parts = Parts::of(&cluster).expect("it is a double");
                // Whoever started it waits for this.
                let _ = tell.send(Ok(parts));
                tokio::select! {
                    _ = is_stopping => {}
                    () = cluster.ended() => {}
                }
                // Mostly nobody asks.
                let _ = tell_stopped.send(cluster.stop().await);
            });
        };
        let thread = thread::Builder::new().name("tailrace".to_owned());
        let thread = thread.spawn(live).map_err(StartError::Runtime)?;
        let parts = told.recv().map_err(|_| StartError::Ending)??;
        let worker = Self {
            stop: Some(stop),
            stopped: Some(stopped),
            thread: Some(thread),
        };
        Ok((parts, worker))
    }

    async fn stop(&mut self) -> Option<String> {
        self.stop = None;
        self.stopped.take()?.await.ok().flatten()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It panics only where a test of the server itself makes it do so.
            let _ = thread.join();
        }
    }
}

impl TestServer {
    pub(super) fn of(parts: Parts, life: Life) -> Self {
        let Parts {
            stage,
            doors,
            addrs,
        } = parts;
        Self {
            stage,
            doors,
            addrs,
            life,
        }
    }
}
