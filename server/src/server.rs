//! Starts a server in this process, and stops it in order.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tailrace_storage::Store;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::clock::ManualClock;
use crate::clock::SystemClock;
use crate::cluster::Cluster;
use crate::cluster::Membership;
use crate::cluster::NodeIndex;
use crate::cluster::TopologyError;
use crate::config::Config;
use crate::config::LogLevel;
use crate::config::Settings;
use crate::config::system_message;
use crate::double::Double;
use crate::double::fixture;
use crate::double::spaces::Root;
use crate::double::spaces::Seat;
use crate::double::spaces::Spaces;
use crate::double::stage::Stage;
use crate::engine::Engine;
use crate::listener::Acceptor;
use crate::listener::Peer;
use crate::migration;
use crate::outbox;
use crate::patience::Patience;
use crate::server_info::ServerInfo;
use crate::sockets;
use crate::sockets::Sockets;
use crate::state::State;
use crate::timer;

/// What a server is to be, before it starts.
///
/// # Examples
///
/// ```
/// # tokio_test_free(async {
/// let server = tailrace_server::Server::builder().start().await?;
/// println!("point a client at {}", server.addr());
/// server.stop().await;
/// # Ok::<(), tailrace_server::StartError>(())
/// # });
/// # fn tokio_test_free<T>(run: impl Future<Output = Result<T, tailrace_server::StartError>>) {
/// #     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// #     runtime.block_on(run).unwrap();
/// # }
/// ```
pub struct Builder {
    config: Config,
    clock: Arc<dyn Clock>,
    manual: Option<Arc<ManualClock>>,
    set_log_level: Option<SetLogLevel>,
    supervisor: &'static str,
    busy_poll_us: u64,
    /// Which space of a test double it is to be.
    seat: Option<Seat>,
}

/// Changes what a process logs.
pub(crate) type SetLogLevel = Arc<dyn Fn(LogLevel) + Send + Sync>;

/// A node of a cluster, and the sockets that its clients come to. A server without a cluster has one as well.
pub(crate) struct Face {
    pub(crate) node: NodeIndex,
    pub(crate) sockets: Sockets,
}

impl Builder {
    /// A server with this configuration: its port, its limits and the rest.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// A server that goes by this clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self.manual = None;
        self
    }

    /// A server whose time stands still until [`Server::advance`].
    #[must_use]
    pub fn manual_clock(mut self, clock: Arc<ManualClock>) -> Self {
        self.clock = Arc::clone(&clock) as Arc<dyn Clock>;
        self.manual = Some(clock);
        self
    }

    /// A server that calls this with the `loglevel` of its configuration, at the start and after each
    /// change. What is logged, and where, is a matter of the whole process.
    #[must_use]
    pub fn on_log_level(mut self, set: impl Fn(LogLevel) + Send + Sync + 'static) -> Self {
        self.set_log_level = Some(Arc::new(set));
        self
    }

    /// A server that tells clients that this supervises its process.
    #[must_use]
    pub fn supervised_by(mut self, supervisor: &'static str) -> Self {
        self.supervisor = supervisor;
        self
    }

    /// A server that does not sleep yet when it has had nothing to do for less than so many microseconds, as long as that
    /// is worth it. It takes a core for itself while clients keep it busy, so this is for a process that is there
    /// for the server alone.
    #[must_use]
    pub fn busy_polling(mut self, micros: u64) -> Self {
        self.busy_poll_us = micros;
        self
    }

    /// How many threads the configuration asks for.
    pub fn threads(&self) -> usize {
        self.config.settings().threads
    }

    /// Starts to listen. Must be called within a tokio runtime, which the server then lives on.
    ///
    /// # Errors
    ///
    /// [`StartError`] if an address cannot be listened on; it says which, and what to do. So are several nodes of a
    /// cluster, a primary with a replica among them, which [`Cluster::start`] starts.
    pub async fn start(self) -> Result<Server, StartError> {
        Cluster::start(self).await?.into_only()
    }

    /// Starts a server that is no part of a cluster.
    pub(crate) fn start_alone(self, stage: Option<&Arc<Stage>>) -> Result<Server, StartError> {
        let sockets = sockets::bind(self.settings())?;
        let node = NodeIndex::default();
        let double = stage.map(|stage| Double::on(Arc::clone(stage), 0));
        self.launch(vec![Face { node, sockets }], None, double)
    }

    /// A server in a space of a test double.
    pub(crate) fn of_space(config: Config, base: Arc<dyn Clock>, seat: Seat) -> Self {
        Self {
            config,
            clock: base,
            seat: Some(seat),
            ..Server::builder()
        }
    }

    /// What the engines share if they are to be a test double, and the spaces beside them, unless they are one.
    pub(crate) fn stage(&self) -> Option<(Arc<Stage>, Option<Root>)> {
        let settings = self.settings();
        if !settings.testdouble {
            return None;
        }
        // A manual clock is moved by the program, which knows nothing of the double's.
        let base = match &self.manual {
            Some(_) => Arc::new(SystemClock::new()),
            None => Arc::clone(&self.clock),
        };
        let seed = settings.seed.unwrap_or_else(sockets::seed);
        let (seat, root) = match &self.seat {
            Some(seat) => (seat.clone(), None),
            None => {
                let root = Spaces::beside(&self.config, Arc::clone(&base));
                (root.seat(), Some(root))
            }
        };
        Some((Stage::new(settings.clock, base, seed, seat), root))
    }

    /// Another builder of the same kind.
    pub(crate) fn again(&self, config: Config) -> Self {
        Self {
            config,
            clock: Arc::clone(&self.clock),
            manual: self.manual.clone(),
            set_log_level: self.set_log_level.clone(),
            supervisor: self.supervisor,
            busy_poll_us: self.busy_poll_us,
            seat: self.seat.clone(),
        }
    }

    /// What is configured.
    pub(crate) fn settings(&self) -> &Settings {
        self.config.settings()
    }

    /// The whole configuration.
    pub(crate) fn configuration(&self) -> &Config {
        &self.config
    }

    /// Serves these faces with one engine. Where there are several, the first is that of a primary.
    pub(crate) fn launch(
        self,
        mut faces: Vec<Face>,
        cluster: Option<Box<Membership>>,
        double: Option<Double>,
    ) -> Result<Server, StartError> {
        let Self {
            config,
            clock,
            manual,
            set_log_level,
            supervisor,
            busy_poll_us,
            seat: _,
        } = self;
        let patience = Patience::new(busy_poll_us);
        let settings = config.settings();
        let addrs = faces.iter().flat_map(|face| face.sockets.addrs()).collect();
        let more = faces.split_off(1);
        let first = faces.remove(0);
        let sockets = first.sockets;
        let seed = settings.seed.unwrap_or_else(sockets::seed);
        let clock = match &double {
            Some(double) => Arc::clone(&double.stage.clock) as Arc<dyn Clock>,
            None => clock,
        };
        let info = describe(&config, &sockets, supervisor, clock.now());
        let store = store(settings, seed, cluster.is_some());
        let mut state = State::new(config, info, store, Arc::clone(&clock));
        let topology = cluster.as_ref().map(|cluster| cluster.shared_topology());
        state.set_log_level = set_log_level;
        state.cluster = cluster;
        state.double = double.map(Box::new);
        state.apply_settings();
        fixture::load_at_start(&mut state).map_err(StartError::Fixture)?;
        state.note_origin();
        if let Some(topology) = &topology {
            state.clients.share_numbers(topology.client_numbers());
        }
        let engine = Arc::new(Engine::new(clock, state));
        let acceptor = Acceptor {
            engine: Arc::clone(&engine),
            face: first.node,
            topology,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            runtime: Handle::current(),
        };
        let (listening, unix_path) = sockets.listen(&acceptor)?;
        engine.with(|state, _| state.listening = Some(listening));
        for Face { node, sockets } in more {
            let face = node;
            let acceptor = Acceptor {
                face,
                ..acceptor.clone()
            };
            sockets.listen(&acceptor)?;
        }
        let launch = migration::launcher(&engine);
        engine.with(|state, _| state.launch_migration = Some(launch));
        let tasks = vec![
            tokio::spawn(timer::run(Arc::clone(&engine))).abort_handle(),
            tokio::spawn(outbox::run(Arc::clone(&engine), patience)).abort_handle(),
        ];
        Ok(Server {
            acceptor,
            addrs,
            unix_path,
            manual,
            tasks,
            spaces: None,
        })
    }
}

/// A store with nothing in it, which finds keys by their slots if it is one of a cluster.
fn store(settings: &Settings, seed: u64, is_in_cluster: bool) -> Store {
    if !is_in_cluster {
        return Store::new(settings.databases, seed, Default::default());
    }
    let mut store = Store::new(settings.cluster.databases, seed, Default::default());
    store.find_by_slot();
    store
}

/// What a server tells of itself.
fn describe(config: &Config, sockets: &Sockets, supervisor: &'static str, now: Now) -> ServerInfo {
    ServerInfo {
        started_at: now.wall,
        run_id: sockets::random_id(),
        replication_id: sockets::random_id(),
        listeners: sockets.describe(config.settings()),
        port: sockets.port,
        supervisor,
        executable: std::env::current_exe()
            .map_or_else(|_| String::new(), |path| path.display().to_string()),
        config_file: config.file().to_owned(),
    }
}

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
    /// A server on a free port of 127.0.0.1, with everything else at its default.
    pub fn builder() -> Builder {
        Builder {
            config: Config::embedded(),
            clock: Arc::new(SystemClock::new()),
            manual: None,
            set_log_level: None,
            supervisor: "no",
            busy_poll_us: 0,
            seat: None,
        }
    }

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

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// The system gave no thread to run on.
    Runtime(io::Error),
    /// The cluster cannot be what the configuration asks for.
    Topology(TopologyError),
    /// The faults of a test double cannot be read.
    Faults {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// What the server is to start with cannot be made.
    Fixture(String),
    /// The server beside which it was to start is ending.
    Ending,
    /// An address cannot be listened on.
    Listen {
        /// The address, as it was asked for.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime(source) => {
                write!(f, "cannot start a thread: {}", system_message(source))
            }
            Self::Topology(error) => write!(f, "{error}"),
            Self::Faults { path, reason } => {
                write!(f, "cannot take the faults of {path}: {reason}")
            }
            Self::Fixture(error) => f.write_str(error),
            Self::Ending => f.write_str("the server is ending"),
            Self::Listen { address, source } => {
                write!(f, "cannot listen on {address}: {}", system_message(source))?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => f.write_str(
                        "; stop the server that uses it, or choose another port with --port (0 \
                         takes a free one)",
                    ),
                    io::ErrorKind::PermissionDenied => {
                        f.write_str("; choose a port above 1023 or a path you may write to")
                    }
                    // A path, rather than an address and its port.
                    _ if address.contains('/') => {
                        f.write_str("; check the directory that --unixsocket names")
                    }
                    _ => f.write_str("; check --bind and --port"),
                }
            }
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Runtime(source) | Self::Listen { source, .. } => Some(source),
            Self::Topology(error) => Some(error),
            Self::Faults { .. } => None,
            Self::Fixture(_) => None,
            Self::Ending => None,
        }
    }
}

impl From<TopologyError> for StartError {
    fn from(error: TopologyError) -> Self {
        Self::Topology(error)
    }
}

/// How long a stop waits for clients to take their replies.
const STOP_GRACE: Duration = Duration::from_secs(1);
