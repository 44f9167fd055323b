//! Clusters under measurement: Tailrace as several nodes in one process, or another server as a process for each node.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use tailrace_storage::SLOT_COUNT;
use tailrace_storage::key_slot;

use crate::clock;
use crate::fault::Fault;
use crate::peer::Peer;
use crate::resp::Reader;
use crate::server::Server;
use crate::server::free_port;
use crate::usage::Usage;
use crate::workloads::KEY;

/// A cluster that was started here and ends with this value.
pub(crate) struct Cluster {
    /// Whether all nodes live in one process, however many they are.
    is_one_process: bool,
    /// The processes; never empty.
    servers: Vec<Server>,
    nodes: Vec<Node>,
}

/// One node.
pub(crate) struct Node {
    /// As a server that runs already.
    pub(crate) server: Server,
    /// A key whose slot it serves.
    pub(crate) key: Vec<u8>,
}

impl Cluster {
    /// Starts a cluster of so many nodes, and waits until all of them serve their slots.
    ///
    /// # Errors
    ///
    /// As [`Server::start`], and [`Fault::Usage`] for a server that cannot be started as a cluster.
    pub(crate) fn start(peer: &Peer, count: u16) -> Result<Self, Fault> {
        let peer = &as_tailrace(peer);
        let servers = match peer {
            Peer::Tailrace { path, threads, .. } => {
                let peer = Peer::Tailrace {
                    path: path.clone(),
                    threads: *threads,
                    nodes: Some(count),
                };
                vec![Server::start(&peer)?]
            }
            Peer::Program { program, args } => start_apart(program, args, count)?,
            Peer::Address(_) | Peer::Floor(_) => {
                return Err(Fault::Usage(
                    "with --nodes both servers are started here; name a program".to_owned(),
                ));
            }
        };
        Ok(Self {
            is_one_process: matches!(peer, Peer::Tailrace { .. }),
            nodes: nodes_of(&servers[0])?,
            servers,
        })
    }

    /// Returns the name and the version, for people.
    pub(crate) fn name(&self) -> &str {
        self.servers[0].name()
    }

    /// Says where its nodes live, for people.
    pub(crate) fn manner(&self) -> &'static str {
        match self.is_one_process {
            true => "one process",
            false => "a process each",
        }
    }

    /// Returns the nodes, in the order in which they tell of themselves.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the addresses of the nodes.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes
            .iter()
            .map(|node| node.server.address())
            .collect()
    }

    /// Returns what all processes together have used so far, `None` if that cannot be known.
    pub(crate) fn usage(&self) -> Result<Option<Usage>, Fault> {
        let mut sum = Some(Usage::default());
        for server in &self.servers {
            sum = sum.zip(server.usage()?).map(|(sum, usage)| Usage {
                cpu_seconds: sum.cpu_seconds + usage.cpu_seconds,
                memory_bytes: sum.memory_bytes + usage.memory_bytes,
            });
        }
        Ok(sum)
    }
}

/// Another build of Tailrace, as `--against` names it, is a cluster in the same way.
fn as_tailrace(peer: &Peer) -> Peer {
    match peer {
        Peer::Program { program, args } if args.is_empty() && program.ends_with("/tailrace") => {
            Peer::Tailrace {
                path: program.into(),
                threads: None,
                nodes: None,
            }
        }
        other => other.clone(),
    }
}

/// Starts processes that are to be nodes, and lets them meet.
fn start_apart(program: &str, args: &[String], count: u16) -> Result<Vec<Server>, Fault> {
    let mut servers = Vec::new();
    let mut buses = Vec::new();
    for _ in 0..count {
        // The port that it would take by itself may be too high to be one.
        let bus = free_port()?.to_string();
        let mut args = args.to_vec();
        args.extend(["--cluster-enabled", "yes", "--cluster-port", &bus].map(str::to_owned));
        servers.push(Server::start(&Peer::Program {
            program: program.to_owned(),
            args,
        })?);
        buses.push(bus);
    }
    let bound = |number: u16| u32::from(SLOT_COUNT) * u32::from(number) / u32::from(count);
    for (server, number) in servers.iter().zip(0..count) {
        let (first, last) = (bound(number), bound(number + 1) - 1);
        let epoch = (number + 1).to_string();
        ask(server, &["CLUSTER", "SET-CONFIG-EPOCH", &epoch])?;
        let (first, last) = (first.to_string(), last.to_string());
        ask(server, &["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
    }
    for (server, bus) in servers.iter().zip(&buses).skip(1) {
        let port = server.address().port().to_string();
        ask(&servers[0], &["CLUSTER", "MEET", "127.0.0.1", &port, bus])?;
    }
    for server in &servers {
        wait_until_whole(server, count)?;
    }
    Ok(servers)
}

fn ask(server: &Server, words: &[&str]) -> Result<Vec<u8>, Fault> {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    server.control()?.call(&words)
}

fn ask_text(server: &Server, words: &[&str]) -> Result<String, Fault> {
    let reply = ask(server, words)?;
    let text = Reader::new(&reply).bulk()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Waits until a node knows all others, and takes the cluster for whole.
#[expect(
    clippy::disallowed_methods,
    reason = "nodes hear of each other as time passes, and tell nobody when they have"
)]
fn wait_until_whole(server: &Server, count: u16) -> Result<(), Fault> {
    let marks = [
        "cluster_state:ok".to_owned(),
        format!("cluster_slots_ok:{SLOT_COUNT}"),
        format!("cluster_known_nodes:{count}"),
    ];
    let end = clock::now() + WHOLE_TIME_MAX;
    loop {
        let info = ask_text(server, &["CLUSTER", "INFO"])?;
        if marks
            .iter()
            .all(|mark| info.lines().any(|line| line == mark))
        {
            return Ok(());
        }
        if clock::now() > end {
            return Err(Fault::NotReady {
                program: server.name().to_owned(),
                log: info,
            });
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Asks a node for all nodes, and finds a key for each.
fn nodes_of(server: &Server) -> Result<Vec<Node>, Fault> {
    let text = ask_text(server, &["CLUSTER", "NODES"])?;
    let mut nodes = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let address = words.get(1).and_then(|word| word.split('@').next());
        let port = address.and_then(|address| address.rsplit(':').next()?.parse().ok());
        let share = words.get(8).and_then(|word| range(word));
        let (Some(port), Some(share)) = (port, share) else {
            return Err(Fault::Unexpected(format!("a node is '{line}'")));
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        nodes.push(Node {
            server: Server::start(&Peer::Address(address))?,
            key: key_within(share),
        });
    }
    Ok(nodes)
}

/// Reads the first and the last of a range of slots.
fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// A key whose slot lies in a range; its hash tag decides that.
fn key_within((first, last): (u16, u16)) -> Vec<u8> {
    let keys = (0_u32..).map(|tag| [KEY, format!(":{{{tag}}}").as_bytes()].concat());
    let is_within = |key: &Vec<u8>| (first..=last).contains(&key_slot(key));
    keys.into_iter()
        .find(is_within)
        .expect("each slot has keys among so many")
}

/// How long nodes may take to know each other: they wait for two seconds, and tell each other once a second.
const WHOLE_TIME_MAX: Duration = Duration::from_secs(60);

/// How often they are asked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lies_in_the_share_of_its_node() {
        for share in [(0, 5_460), (5_461, 10_922), (16_380, 16_383)] {
            let key = key_within(share);
            assert!(key.starts_with(b"tailrace-bench:{"));
            assert!((share.0..=share.1).contains(&key_slot(&key)));
        }
    }
}
