//! Starts the nodes of a process.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use tailrace_storage::Millis;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;

use super::Address;
use super::Membership;
use super::Node;
use super::NodeIndex;
use super::Topology;
use super::TopologyError;
use super::View;
use super::moving;
use super::own_nodes;
use crate::config::Config;
use crate::double::Double;
use crate::double::stage::Stage;
use crate::double::strict::Unsupported;
use crate::listener::Acceptor;
use crate::server::Builder;
use crate::server::Face;
use crate::server::Server;
use crate::sockets;
use crate::sockets::Sockets;
use crate::start_error::StartError;

/// The servers of a process: one, or the nodes of a cluster.
///
/// # Examples
///
/// ```
/// # run(async {
/// use tailrace_server::Cluster;
/// use tailrace_server::Config;
/// use tailrace_server::Server;
///
/// let config = Config::embedded().with("nodes 3")?;
/// let cluster = Cluster::start(Server::builder().config(config)).await?;
/// assert_eq!(cluster.addrs().len(), 3);
/// println!("point a client of clusters at {}", cluster.addrs()[0]);
/// cluster.stop().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # });
/// # fn run<T>(run: impl Future<Output = Result<T, Box<dyn std::error::Error>>>) {
/// #     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// #     runtime.block_on(run).unwrap();
/// # }
/// ```
pub struct Cluster {
    /// One for each engine, of which there are as many as nodes. Never empty.
    servers: Vec<Server>,
    topology: Option<Arc<Topology>>,
    /// Moves slots in the background.
    _mover: Option<Task>,
}

/// A task that ends when this is dropped.
struct Task(tokio::task::AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Cluster {
    /// Starts what the configuration of a builder asks for: a server, or all nodes of a cluster. Must be called within
    /// a tokio runtime, which they then live on.
    ///
    /// # Errors
    ///
    /// [`StartError`] if an address cannot be listened on, or if the file that describes the cluster is wrong.
    pub async fn start(builder: Builder) -> Result<Self, StartError> {
        Self::launch(builder)
    }

    /// As [`Self::start`], which waits for nothing.
    pub(crate) fn launch(builder: Builder) -> Result<Self, StartError> {
        let (stage, spaces) = builder.stage().unzip();
        let faults = builder.settings().faults.clone();
        if let Some(stage) = &stage {
            stage.load_faults(&faults)?;
        }
        let mut cluster = match builder.settings().cluster_enabled {
            false => Self {
                servers: vec![builder.start_alone(stage.as_ref())?],
                topology: None,
                _mover: None,
            },
            true => Self::launch_nodes(&builder, stage.as_ref())?,
        };
        if let Some(stage) = stage {
            let engine = cluster.servers[0].engine();
            engine.look(|state| stage.check_faults(&faults, state))?;
            let engines: Vec<_> = cluster
                .servers
                .iter()
                .map(Server::engine)
                .cloned()
                .collect();
            let driver = stage.open(&engines);
            cluster.servers[0].adopt(driver, spaces.flatten());
        }
        Ok(cluster)
    }

    fn launch_nodes(builder: &Builder, stage: Option<&Arc<Stage>>) -> Result<Self, StartError> {
        let settings = builder.settings();
        let primaries = settings.cluster.nodes;
        let nodes = bind(builder.configuration())?;
        let sockets = nodes.iter().map(|(_, sockets)| sockets).zip(0..);
        let addresses = sockets.map(|(sockets, number)| address(sockets, number));
        let addresses: Vec<Address> = addresses.collect();
        let (view, own) = match settings.cluster.topology.as_str() {
            "" => (own_view(&addresses, primaries), (0..nodes.len()).collect()),
            path => {
                let listening = nodes.iter().map(|(_, sockets)| sockets.addrs()).collect();
                own_nodes::read(path, &addresses, listening, &settings.cluster)?
            }
        };
        // Each node may be a primary some day, with an engine of its own; but a test double has one clock.
        let engines = match settings.testdouble {
            true => primaries,
            false => nodes.len(),
        };
        let topology = Topology::new(view, engines);
        let mut faces: Vec<Vec<Face>> = Vec::new();
        faces.resize_with(engines, Vec::new);
        let mut configs = Vec::new();
        for (number, ((config, sockets), place)) in nodes.into_iter().zip(own).enumerate() {
            let node = NodeIndex::new(place);
            faces[number % engines].push(Face { node, sockets });
            configs.push(config);
        }
        let mut servers = Vec::new();
        for (number, (faces, config)) in faces.into_iter().zip(configs).enumerate() {
            let membership = Membership::new(Arc::clone(&topology), number);
            let double = stage.map(|stage| Double::on(Arc::clone(stage), number));
            let builder = builder.again(config);
            servers.push(builder.launch(faces, Some(Box::new(membership)), double)?);
            topology.connect(number, servers[number].engine());
        }
        let mover = tokio::spawn(moving::run(Arc::clone(&topology)));
        Ok(Self {
            servers,
            topology: Some(topology),
            _mover: Some(Task(mover.abort_handle())),
        })
    }

    /// The addresses of all nodes, primaries first; all addresses of a server without a cluster.
    pub fn addrs(&self) -> Vec<SocketAddr> {
        let mut addrs: Vec<&[SocketAddr]> = self.servers.iter().map(Server::addrs).collect();
        if self.topology.is_none() {
            return addrs.concat();
        }
        // Each server has its primary's address and then those of its replicas.
        let mut in_order = Vec::new();
        while addrs.iter().any(|addrs| !addrs.is_empty()) {
            for addrs in &mut addrs {
                if let Some((first, rest)) = addrs.split_first() {
                    in_order.push(*first);
                    *addrs = rest;
                }
            }
        }
        in_order
    }

    /// An address of each node of this process, in the order of their numbers; all addresses of a server without a cluster.
    pub fn node_addrs(&self) -> Vec<SocketAddr> {
        let addrs = self.addrs();
        let Some(view) = self.view() else {
            return addrs;
        };
        let own = view.nodes.iter().filter(|node| node.engine.is_some());
        let of_node = |port: u16| addrs.iter().find(|addr| addr.port() == port).copied();
        own.filter_map(|node| of_node(node.address.listened_on))
            .collect()
    }

    /// The path of its Unix socket, if it has one.
    pub fn unix_path(&self) -> Option<&str> {
        self.servers.first().and_then(Server::unix_path)
    }

    /// Whether any client is connected to any node.
    pub fn has_clients(&self) -> bool {
        self.servers.iter().any(Server::has_clients)
    }

    /// What is asked of test doubles that they do not do, to be looked at then or when all have ended.
    pub fn unsupported(&self) -> Unsupported {
        let double = self.servers.first().and_then(|server| {
            let engine = server.engine();
            engine.look(|state| Some(state.double.as_ref()?.stage.seat.spaces.clone()))
        });
        Unsupported::of(double.and_then(|spaces| spaces.upgrade()))
    }

    /// What is known of the cluster; nothing without one.
    pub fn view(&self) -> Option<Arc<View>> {
        self.topology.as_ref().map(|topology| topology.view())
    }

    /// The engines of all nodes. That of a replica has nothing to do until it is a primary with its own data.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Serves one client at a node, on any stream of bytes, as [`Server::serve`] does.
    ///
    /// # Panics
    ///
    /// If the node is not one of this process.
    pub fn serve<S>(&self, node: NodeIndex, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let view = self.view();
        let engine = view.map_or(Some(0), |view| view.node(node).engine);
        let engine = engine.expect("the node is one of this process");
        self.servers[engine].serve_at(node, stream);
    }

    /// What accepts clients for each node, in the order of [`Self::addrs`].
    pub(crate) fn doors(&self) -> Vec<Acceptor> {
        let Some(view) = self.view() else {
            let own = self.servers.iter();
            return own.map(|server| server.acceptor().clone()).collect();
        };
        let nodes = view.nodes.iter().enumerate();
        let doors = nodes.filter_map(|(place, node)| {
            Some(Acceptor {
                face: NodeIndex::new(place),
                ..self.servers[node.engine?].acceptor().clone()
            })
        });
        doors.collect()
    }

    /// Lets a replica and its primary change places. Nothing is lost: they share their data.
    pub fn fail_over(&self, replica: NodeIndex) {
        if let Some(topology) = &self.topology
            && let Some(engine) = topology.view().node(replica).engine
        {
            self.servers[engine].engine().with(|state, _| {
                if let Some(cluster) = &mut state.cluster {
                    cluster.change(|view| view.promote(replica));
                }
            });
        }
    }

    /// Moves a slot and its keys to a primary of this process, at once for everybody.
    ///
    /// # Panics
    ///
    /// If either node is in another process.
    pub fn move_slot(&self, slot: u16, to: NodeIndex) {
        let Some(topology) = &self.topology else {
            return;
        };
        let from = topology.view().owner_of(slot);
        moving::move_slot(topology, slot, from, to);
    }

    /// Moves a manual clock, as [`Server::advance`] does, for all nodes together.
    ///
    /// # Panics
    ///
    /// If they were not started with a manual clock.
    pub fn advance(&self, by: Millis) {
        Server::advance_all(&self.servers, by);
    }

    /// Waits until a client asks any of the nodes to end, by `SHUTDOWN`.
    pub async fn ended(&self) {
        let mut ends: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = Vec::new();
        for server in &self.servers {
            ends.push(Box::pin(server.ended()));
        }
        std::future::poll_fn(|cx| {
            let is_over = ends.iter_mut().any(|end| end.as_mut().poll(cx).is_ready());
            match is_over {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })
        .await;
    }

    /// Stops all nodes, as [`Server::stop`] does one, and reports a fault if there was one.
    pub async fn stop(self) -> Option<String> {
        self.servers.iter().for_each(Server::begin_to_stop);
        let mut fault = None;
        for server in self.servers {
            fault = server.stop().await.or(fault);
        }
        fault
    }

    /// The server, if it is the only node. A replica is another, also of a test double, where both have one engine: who
    /// holds only a server could neither reach it nor let it take over.
    pub(crate) fn into_only(mut self) -> Result<Server, StartError> {
        let nodes = self.node_addrs().len();
        let is_only = self.topology.is_none() || nodes <= 1;
        match (is_only, self.servers.pop()) {
            (true, Some(server)) => Ok(server),
            _ => Err(TopologyError::new(format!(
                "the configuration asks for {nodes} nodes, primaries and replicas together, which Cluster::start \
                 starts; a server is one"
            ))
            .into()),
        }
    }
}

/// Binds the sockets of all nodes: of primaries, then of replicas.
fn bind(config: &Config) -> Result<Vec<(Config, Sockets)>, StartError> {
    let settings = config.settings();
    let count = settings.cluster.nodes * (1 + settings.cluster.replicas);
    let mut nodes = Vec::new();
    for place in 0..count {
        let port = match settings.port {
            0 => Some(0),
            first => u16::try_from(place)
                .ok()
                .and_then(|place| first.checked_add(place)),
        };
        let port = port.ok_or_else(|| {
            TopologyError::new(format!(
                "there are no {count} ports from {} on",
                settings.port
            ))
        })?;
        let mut config = config.of_node(port, place == 0);
        let sockets = sockets::bind(config.settings())?;
        if port == 0 {
            // From here on it is the one that was free.
            config = config.of_node(sockets.port, place == 0);
        }
        nodes.push((config, sockets));
    }
    Ok(nodes)
}

fn address(sockets: &Sockets, number: u16) -> Address {
    Address {
        number,
        listened_on: sockets.port,
        port: sockets.port,
        ..Address::default()
    }
}

/// A cluster of the nodes of this process.
fn own_view(addresses: &[Address], primaries: usize) -> View {
    let mut nodes: Vec<Node> = Vec::new();
    for (place, address) in addresses.iter().enumerate() {
        let engine = place % primaries;
        let primary = (place >= primaries).then(|| NodeIndex::new(engine));
        nodes.push(Node {
            id: sockets::random_id(),
            shard: match primary {
                Some(primary) => nodes[primary.place()].shard.clone(),
                None => sockets::random_id(),
            },
            address: address.clone(),
            replica_of: primary,
            // As the reference's tools begin a cluster; a node that is alone has none.
            epoch: match (primary, primaries) {
                (Some(_), _) | (None, 1) => 0,
                (None, _) => place as u64 + 1,
            },
            migrating: Default::default(),
            importing: Default::default(),
            engine: Some(engine),
            circle: 0,
        });
    }
    let mut view = View::new(nodes);
    let all: Vec<NodeIndex> = (0..primaries).map(NodeIndex::new).collect();
    view.spread(&all);
    view
}
