//! What a server is to be, and how it starts.

use std::sync::Arc;

use tailrace_storage::Now;
use tailrace_storage::Store;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Server;
use crate::clock::Clock;
use crate::clock::ManualClock;
use crate::clock::SystemClock;
use crate::cluster::Cluster;
use crate::cluster::Membership;
use crate::cluster::NodeIndex;
use crate::config::Config;
use crate::config::LogLevel;
use crate::config::Settings;
use crate::double::Double;
use crate::double::calls::CallLog;
use crate::double::fixture;
use crate::double::spaces::Root;
use crate::double::spaces::Seat;
use crate::double::spaces::Spaces;
use crate::double::stage::Stage;
use crate::engine::Engine;
use crate::listener::Acceptor;
use crate::migration;
use crate::outbox;
use crate::patience::Patience;
use crate::server_info::ServerInfo;
use crate::sockets;
use crate::sockets::Sockets;
use crate::start_error::StartError;
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
        let renames = self.config.renames().to_vec();
        let calls = CallLog::new(settings.calls_bytes_max, renames);
        Some((Stage::new(settings.clock, base, seed, calls, seat), root))
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
