//! Accepts connections and gives each a task.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;

use tailrace_protocol::Version;
use tailrace_storage::Now;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::WriteHalf;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::net::UnixListener;
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::Client;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::cluster::Membership;
use crate::cluster::NodeIndex;
use crate::cluster::Topology;
use crate::connection;
use crate::double::outage::Phase;
use crate::engine::Engine;
use crate::link::Link;
use crate::link::Outlet;
use crate::state::State;

/// What every listener needs to serve the clients that it accepts.
#[derive(Clone)]
pub(crate) struct Acceptor {
    pub(crate) engine: Arc<Engine>,
    /// The node of a cluster that its clients are connected to.
    pub(crate) face: NodeIndex,
    /// The cluster, in which another engine may be that of the node now.
    pub(crate) topology: Option<Arc<Topology>>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    /// Where the tasks of clients live, whichever thread brings a client.
    pub(crate) runtime: Handle,
}

/// Where a client comes from.
pub(crate) struct Peer {
    pub(crate) addr: String,
    pub(crate) laddr: String,
    pub(crate) unix: bool,
    pub(crate) local: bool,
    pub(crate) fd: i32,
}

impl Peer {
    /// A client in this process.
    pub(crate) fn embedded() -> Self {
        Self {
            addr: "embedded:0".to_owned(),
            laddr: "embedded:0".to_owned(),
            unix: false,
            local: true,
            fd: -1,
        }
    }
}

impl Acceptor {
    /// Accepts TCP clients until told to close.
    pub(crate) async fn accept_tcp(self, listener: Arc<TcpListener>, close: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = close.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, addr)) => self.serve_tcp(stream, addr),
                Err(error) => pause_after(&error).await,
            }
        }
    }

    /// Accepts clients of a Unix socket until told to stop.
    pub(crate) async fn accept_unix(self, listener: UnixListener, path: String) {
        loop {
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => self.serve_unix(stream, &path),
                Err(error) => pause_after(&error).await,
            }
        }
    }

    /// The engine that the node is a face of.
    fn engine_now(&self) -> Arc<Engine> {
        let topology = self.topology.as_ref();
        let engine = topology.and_then(|topology| topology.engine_of(self.face));
        engine.unwrap_or_else(|| Arc::clone(&self.engine))
    }

    fn serve_tcp(&self, stream: TcpStream, addr: SocketAddr) {
        let laddr = stream.local_addr();
        // A client that left already is noticed by the first read.
        let _ = stream.set_nodelay(true);
        let keepalive = self
            .engine_now()
            .with(|state, _| state.config.settings().tcp_keepalive_s);
        if keepalive > 0 {
            let idle = std::time::Duration::from_secs(keepalive);
            let options = socket2::TcpKeepalive::new().with_time(idle);
            let _ = socket2::SockRef::from(&stream).set_tcp_keepalive(&options);
        }
        let peer = Peer {
            addr: addr.to_string(),
            laddr: laddr.map_or_else(|_| "?".to_owned(), |laddr| laddr.to_string()),
            unix: false,
            local: addr.ip().to_canonical().is_loopback(),
            fd: stream.as_raw_fd(),
        };
        let (reader, writer) = stream.into_split();
        self.serve(reader, Box::new(writer), peer);
    }

    fn serve_unix(&self, stream: UnixStream, path: &str) {
        let peer = Peer {
            addr: format!("{path}:0"),
            laddr: format!("{path}:0"),
            unix: true,
            local: true,
            fd: stream.as_raw_fd(),
        };
        let (reader, writer) = stream.into_split();
        self.serve(reader, Box::new(writer), peer);
    }

    /// Serves any stream of bytes, as tests and embedding programs want it.
    pub(crate) fn serve_stream<S>(&self, stream: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (reader, writer) = tokio::io::split(stream);
        self.serve(reader, Box::new(AnyOutlet(writer)), peer);
    }

    /// Serves a client whose two directions may be anything.
    pub(crate) fn serve<R>(&self, reader: R, outlet: Box<dyn Outlet>, peer: Peer)
    where
        R: AsyncRead + Send + Unpin + 'static,
    {
        let link = Arc::new(Link::new(outlet));
        let client_link = Arc::clone(&link);
        let local = peer.local;
        let engine = self.engine_now();
        let connected = engine.connect(
            |state| refusal(state, self.face, local),
            |id, now| new_client(id, self.face, peer, client_link, now),
        );
        match connected {
            Ok((id, limits)) => {
                if self.stop.is_cancelled() {
                    // Whoever stopped the server closed the clients of then, and this is a later one.
                    link.close();
                }
                let serving = connection::serve(engine, reader, link, id, limits);
                self.tasks.spawn_on(serving, &self.runtime);
            }
            // Both directions of the socket are closed when they are dropped.
            Err(Refusal::Silent) => {}
            Err(Refusal::Says(refusal)) => {
                link.enqueue(&mut format!("-{refusal}\r\n").into_bytes());
                link.flush();
                if link.waiting() > 0 {
                    let stop = self.stop.clone();
                    let refusing = async move {
                        // Whoever does not take the refusal does without.
                        let refusing = std::future::poll_fn(|cx| link.poll_flush(cx));
                        let _ = stop.run_until_cancelled(refusing).await;
                    };
                    self.tasks.spawn_on(refusing, &self.runtime);
                }
            }
        }
    }
}

/// What a client hears that is not to be served.
pub(crate) enum Refusal {
    /// Nothing: as far as it can see, there is no server.
    Silent,
    /// Why that is so.
    Says(&'static str),
}

/// Why a client is not to be served, if it is not.
fn refusal(state: &State, face: NodeIndex, local: bool) -> Option<Refusal> {
    let is_node_down = |cluster: &Membership| cluster.view().is_down(face);
    let is_restarting = matches!(state.outage(state.clock.mono()), Some(Phase::Down(_)));
    if is_restarting || state.cluster.as_deref().is_some_and(is_node_down) {
        return Some(Refusal::Silent);
    }
    let settings = state.config.settings();
    let is_full = |count: usize| count >= settings.maxclients;
    if is_full(state.clients.len()) && is_full(state.clients_of(face)) {
        return Some(Refusal::Says(match state.cluster {
            Some(_) => "ERR max number of clients + cluster connections reached",
            None => "ERR max number of clients reached",
        }));
    }
    if settings.protected_mode && settings.requirepass.is_none() && !local {
        return Some(Refusal::Says(PROTECTED_MODE));
    }
    None
}

/// Adds a client that nobody hears, for what the server asks of itself before it listens.
pub(crate) fn add_own_client(state: &mut State, now: Now) -> ClientId {
    let (_, writer) = tokio::io::split(tokio::io::empty());
    let link = Arc::new(Link::new(Box::new(AnyOutlet(writer))));
    let make = |id| new_client(id, NodeIndex::default(), Peer::embedded(), link, now);
    state.clients.insert(make)
}

fn new_client(id: ClientId, face: NodeIndex, peer: Peer, link: Arc<Link>, now: Now) -> Client {
    Client {
        id,
        addr: peer.addr,
        laddr: peer.laddr,
        unix: peer.unix,
        local: peer.local,
        fd: peer.fd,
        connected_at: now.mono,
        active_at: now.mono,
        version: Version::Resp2,
        db: 0,
        authenticated: false,
        name: Vec::new(),
        lib_name: Vec::new(),
        lib_version: Vec::new(),
        reply_mode: ReplyMode::On,
        no_evict: false,
        no_touch: false,
        import_source: false,
        capa_redirect: false,
        readonly: false,
        asking: false,
        face,
        is_sent_away: false,
        is_monitor: false,
        transaction: None,
        has_transacted: false,
        executing: None,
        watches: Default::default(),
        tracking: None,
        subscriptions: Default::default(),
        waiter: None,
        gated: false,
        is_let_go: false,
        backlog: Vec::new(),
        last_command: None,
        closing: false,
        is_unheard: false,
        soft_limit_since: None,
        input_bytes: 0,
        argument_bytes: 0,
        bytes_in: 0,
        bytes_out: 0,
        is_amid_input: false,
        pushed_bytes: 0,
        commands: 0,
        out: Vec::new(),
        due: Default::default(),
        link,
    }
}

/// A listener that fails, as when file descriptors are used up, is not asked again at once.
async fn pause_after(error: &io::Error) {
    tracing::warn!("cannot accept a connection: {error}");
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
}

impl Outlet for tokio::net::tcp::OwnedWriteHalf {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::try_write(self, bytes)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(std::pin::Pin::new(self), cx, bytes)
    }

    fn break_off(self: Box<Self>) {
        let stream: &TcpStream = (*self).as_ref();
        // A socket that is gone already needs no breaking.
        let _ = socket2::SockRef::from(stream).set_linger(Some(std::time::Duration::ZERO));
        // Dropped, it would end what is sent in order first, and the other side might see nothing else.
        (*self).forget();
    }
}

impl Outlet for tokio::net::unix::OwnedWriteHalf {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::try_write(self, bytes)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(std::pin::Pin::new(self), cx, bytes)
    }
}

/// A stream that only its own task can write to.
struct AnyOutlet<S>(WriteHalf<S>);

impl<S: AsyncWrite + Send> Outlet for AnyOutlet<S> {
    fn try_write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(std::pin::Pin::new(&mut self.0), cx, bytes)
    }
}

/// Tells an operator, in the reference's words, how to let clients in from elsewhere.
const PROTECTED_MODE: &str = "DENIED Running in protected mode because protected mode is enabled \
    and no password is set for the default user. In this mode connections are only accepted from \
    the loopback interface. If you want to connect from external computers, you may adopt one of \
    the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET \
    protected-mode no' from the loopback interface by connecting from the same host the server is \
    running, however MAKE SURE it's not publicly accessible from internet if you do so. Use CONFIG \
    REWRITE to make this change permanent. 2) Alternatively you can just disable the protected \
    mode by editing the configuration file, and setting the protected mode option to 'no', and \
    then restarting the server. 3) If you started the server manually just for testing, restart it \
    with the '--protected-mode no' option. 4) Set up an authentication password for the default \
    user. NOTE: You only need to do one of the above things in order for the server to start \
    accepting connections from the outside.";
