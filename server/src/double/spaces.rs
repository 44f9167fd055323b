//! Spaces: servers of their own in the process of a test double, one for each test that runs beside others.
//!
//! A space is started as the process was, apart from where it listens: it has a port of 127.0.0.1 of its own, and its
//! data, clock, faults and calls are nobody else's. All live on one runtime.
//!
//! The lock of the table is held for a moment only and no other is taken under it, so it may be taken under an
//! engine's. Whoever ends a space does so outside of all locks.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Weak;

use parking_lot::Mutex;
use tailrace_storage::MissingDatabase;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::task::JoinSet;

use super::snapshots::Saved;
use super::strict::NameCounts;
use crate::client::ClientId;
use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::engine::Engine;
use crate::server::Builder;
use crate::server::Server;
use crate::start_error::StartError;
use crate::testing::Parts;

/// The spaces of a process.
pub(crate) struct Spaces {
    /// How a space is to be, but for its place.
    config: Config,
    /// What their clocks go by.
    base: Arc<dyn Clock>,
    runtime: Handle,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    spaces: BTreeMap<u64, Space>,
    last: u64,
    /// The commands that any was asked for and that there are not.
    unsupported: NameCounts,
    /// The process is ending, and there are to be no more.
    is_closed: bool,
}

/// One of them.
struct Space {
    cluster: Cluster,
    urls: Vec<String>,
    /// Whose end is its own.
    owner: Option<Owner>,
    /// What waits for it to be ended from within.
    watch: AbortHandle,
}

/// A client, wherever it is connected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Owner {
    pub(crate) space: u64,
    pub(crate) engine: usize,
    pub(crate) client: ClientId,
}

/// What a space is to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    /// A cluster of so many nodes, and else what the process was started as.
    pub(crate) nodes: Option<usize>,
    /// It ends with this client.
    pub(crate) owner: Option<Owner>,
    /// It begins with what each node of another had; with nothing if there is none.
    pub(crate) from: Vec<Arc<Saved>>,
    /// It listens on no port; clients are brought to it.
    pub(crate) has_no_port: bool,
}

/// What is known of a space.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) id: u64,
    /// Where its nodes listen, the first of which is enough for a client of clusters.
    pub(crate) urls: Vec<String>,
    pub(crate) owner: Option<Owner>,
}

/// Which space something is in. The server that the process was started as is number 0.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) spaces: Weak<Spaces>,
    pub(crate) id: u64,
}

/// Ends all spaces with the server that the process was started as.
pub(crate) struct Root(Arc<Spaces>);

impl Spaces {
    /// No spaces yet beside a server that was started like this. Must be called within a tokio runtime.
    pub(crate) fn beside(config: &Config, base: Arc<dyn Clock>) -> Root {
        Root(Arc::new(Self {
            config: config.of_space(),
            base,
            runtime: Handle::current(),
            table: Mutex::default(),
        }))
    }

    /// Starts one.
    pub(crate) fn start(self: &Arc<Self>, wish: &Wish) -> Result<Known, StartError> {
        let _entered = self.runtime.enter();
        let id = {
            let mut table = self.table.lock();
            table.last += 1;
            table.last
        };
        let seat = Seat {
            spaces: Arc::downgrade(self),
            id,
        };
        let mut config = self.config.clone();
        if let Some(nodes) = wish.nodes {
            config.set_nodes(nodes);
        }
        if wish.has_no_port {
            config.listen_nowhere();
        }
        let builder = Builder::of_space(config, Arc::clone(&self.base), seat);
        let cluster = Cluster::launch(builder)?;
        let engines: Vec<_> = cluster
            .servers()
            .iter()
            .map(Server::engine)
            .cloned()
            .collect();
        for engine in &engines {
            let begun = engine.with(|state, _| state.begin_with(&wish.from));
            begun.map_err(|MissingDatabase(db)| StartError::Fixture(no_database(db)))?;
        }
        let watch = tokio::spawn(Arc::clone(self).end_from_within(id, engines));
        let known = Known {
            id,
            urls: cluster.addrs().iter().map(url).collect(),
            owner: wish.owner,
        };
        let space = Space {
            cluster,
            urls: known.urls.clone(),
            owner: wish.owner,
            watch: watch.abort_handle(),
        };
        let mut table = self.table.lock();
        if table.is_closed {
            drop(table);
            space.drop_now();
            return Err(StartError::Ending);
        }
        table.spaces.insert(id, space);
        Ok(known)
    }

    /// A command was asked for that there is not, in the server itself or in a space.
    pub(crate) fn note_unsupported(&self, name: &[u8]) {
        self.table.lock().unsupported.count(name);
    }

    /// How often each was asked for, by name in lower case.
    pub(crate) fn unsupported(&self) -> BTreeMap<Vec<u8>, u64> {
        self.table.lock().unsupported.counts().clone()
    }

    /// All of them, the oldest first.
    pub(crate) fn list(&self) -> Vec<Known> {
        let table = self.table.lock();
        table
            .spaces
            .iter()
            .map(|(id, space)| space.known(*id))
            .collect()
    }

    /// The space of this number, or one of whose nodes has this url.
    pub(crate) fn find(&self, name: &[u8]) -> Option<u64> {
        let table = self.table.lock();
        let is_it = |id: u64, space: &Space| {
            id.to_string().as_bytes() == name
                || space.urls.iter().any(|url| {
                    let name = name.strip_suffix(b"/").unwrap_or(name);
                    url.as_bytes() == name
                })
        };
        let mut spaces = table.spaces.iter();
        spaces
            .find(|(id, space)| is_it(**id, space))
            .map(|(id, _)| *id)
    }

    /// Ends one in order. Whether there was one.
    pub(crate) async fn free(self: Arc<Self>, id: u64) -> bool {
        let space = self.table.lock().spaces.remove(&id);
        match space {
            Some(space) => {
                space.stop().await;
                true
            }
            None => false,
        }
    }

    /// Ends one in a while, in order.
    pub(crate) fn free_soon(self: &Arc<Self>, id: u64) {
        self.runtime.spawn(Arc::clone(self).free(id));
    }

    /// Ends what a client that has left owned.
    pub(crate) fn on_left(self: &Arc<Self>, owner: Owner) {
        let owned: Vec<u64> = {
            let table = self.table.lock();
            let owned = table.spaces.iter();
            let owned = owned.filter(|(_, space)| space.owner == Some(owner));
            owned.map(|(id, _)| *id).collect()
        };
        owned.iter().for_each(|id| self.free_soon(*id));
    }

    /// What a program holds of one.
    pub(crate) fn parts(&self, id: u64) -> Option<Parts> {
        let table = self.table.lock();
        Parts::of(&table.spaces.get(&id)?.cluster)
    }

    /// Whether a client is connected to any.
    pub(crate) fn has_clients(&self) -> bool {
        let engines: Vec<Arc<Engine>> = {
            let table = self.table.lock();
            let servers = table
                .spaces
                .values()
                .flat_map(|space| space.cluster.servers());
            servers.map(Server::engine).cloned().collect()
        };
        let mut engines = engines.iter();
        engines.any(|engine| engine.look(|state| !state.clients.is_empty()))
    }

    /// Ends a space whose client asked for that by SHUTDOWN.
    async fn end_from_within(self: Arc<Self>, id: u64, engines: Vec<Arc<Engine>>) {
        let mut ends = JoinSet::new();
        for engine in engines {
            ends.spawn(async move { engine.ending.notified().await });
        }
        ends.join_next().await;
        self.free_soon(id);
    }

    fn close(&self) -> Vec<Space> {
        let mut table = self.table.lock();
        table.is_closed = true;
        std::mem::take(&mut table.spaces).into_values().collect()
    }
}

impl Space {
    fn known(&self, id: u64) -> Known {
        Known {
            id,
            urls: self.urls.clone(),
            owner: self.owner,
        }
    }

    /// Ends it in order. It is boxed, since a server that ends ends spaces, which are servers.
    fn stop(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.watch.abort();
        Box::pin(async move {
            self.cluster.stop().await;
        })
    }

    fn drop_now(self) {
        self.watch.abort();
    }
}

impl Root {
    /// Where the server itself is.
    pub(crate) fn seat(&self) -> Seat {
        Seat {
            spaces: Arc::downgrade(&self.0),
            id: 0,
        }
    }

    /// Whether a client is connected to any space.
    pub(crate) fn has_clients(&self) -> bool {
        self.0.has_clients()
    }

    /// Ends all of them in order.
    pub(crate) async fn stop(&self) {
        let mut stops = JoinSet::new();
        for space in self.0.close() {
            stops.spawn(space.stop());
        }
        stops.join_all().await;
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        self.0.close().into_iter().for_each(Space::drop_now);
    }
}

fn no_database(db: usize) -> String {
    format!(
        "the snapshot has keys in database {db}, which the new space has not; start the process with cluster-databases {}, \
         or keep keys in database 0",
        db + 1
    )
}

/// Where a client is to connect.
pub(crate) fn url(addr: &std::net::SocketAddr) -> String {
    format!("redis://{addr}")
}
