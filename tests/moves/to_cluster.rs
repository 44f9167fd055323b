//! Streams that are carried to a cluster of the reference, each to the node that serves its slot, and back.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tailrace_server::Cluster;
use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_storage::Rng;
use tailrace_storage::key_slot;
use tailrace_tests::Reference;
use tailrace_tests::Target;
use tailrace_tests::Value;
use tokio::runtime::Runtime;

use super::reference_to;
use super::side::Side;
use super::streams::GROUPS;

/// From one server, and from a cluster of three nodes whose shares of the slots are others.
#[test]
fn streams_are_carried_to_a_cluster_of_the_reference_and_back() {
    let Some(binary) = reference_to("carry streams to a cluster") else {
        return;
    };
    let reference = Reference::start_cluster(&binary, 3).unwrap();
    let addresses: Vec<SocketAddr> = reference.iter().map(Target::address).collect();
    for (seed, lines) in ["", "nodes 3"].into_iter().enumerate() {
        let runtime = Runtime::new().unwrap();
        let config = Config::embedded()
            .with("enable-debug-command yes")
            .and_then(|config| config.with(lines))
            .unwrap();
        let builder = Server::builder().config(config);
        let tailrace = runtime.block_on(Cluster::start(builder)).unwrap();
        there_and_back(
            &mut Place::of(&tailrace.addrs()),
            &mut Place::of(&addresses),
            seed as u64,
        );
        assert_eq!(runtime.block_on(tailrace.stop()), None);
    }
}

fn there_and_back(here: &mut Place, there: &mut Place, seed: u64) {
    let mut rng = Rng::from_seed(seed);
    // Some slots have several streams.
    let key = |number: u64| format!("stream:{number}:{{{}}}", number * 2 / 3);
    let keys: Vec<String> = (0..STREAMS).map(key).collect();
    for key in &keys {
        here.node_of(key).make(key, &mut rng);
    }
    let shown: Vec<String> = keys.iter().map(|key| here.shown(key)).collect();
    let with_pending = shown.iter().filter(|text| text.contains("\"pending\" [["));
    let with_pending = with_pending.count() as u64;
    assert!(
        with_pending > STREAMS / 4,
        "{with_pending} had anything pending"
    );

    here.carry(&keys, there);
    let arrived = keys.iter().map(|key| there.shown(key));
    for (arrived, shown) in arrived.zip(&shown) {
        assert_eq!(&arrived, shown, "there");
    }
    there.carry(&keys, here);
    let returned = keys.iter().map(|key| here.shown(key));
    for (returned, shown) in returned.zip(&shown) {
        assert_eq!(&returned, shown, "and back");
    }
}

/// One server, or all nodes of a cluster.
struct Place {
    nodes: Vec<Side>,
    ports: Vec<u16>,
    /// Ranges of slots, with both ends, and the node that serves each; nothing without a cluster.
    shares: Vec<(u16, u16, usize)>,
}

impl Place {
    fn of(addresses: &[SocketAddr]) -> Self {
        let mut nodes: Vec<Side> = addresses.iter().map(|at| Side::new(*at)).collect();
        let ports: Vec<u16> = addresses.iter().map(SocketAddr::port).collect();
        let shares = match nodes[0].say("CLUSTER SLOTS") {
            Value::Array(shares) => shares.iter().map(|entry| share(entry, &ports)).collect(),
            Value::Error(_) => Vec::new(),
            other => panic!("no slots: {other}"),
        };
        Self {
            nodes,
            ports,
            shares,
        }
    }

    fn owner_of(&self, slot: u16) -> usize {
        let is_of = |(first, last, _): &&(u16, u16, usize)| (*first..=*last).contains(&slot);
        match self.shares.is_empty() {
            true => 0,
            false => self.shares.iter().find(is_of).unwrap().2,
        }
    }

    fn node_of(&mut self, key: &str) -> &mut Side {
        let owner = self.owner_of(key_slot(key.as_bytes()));
        &mut self.nodes[owner]
    }

    /// All that shows of a stream, and what is pending as XPENDING tells it, but for how long.
    fn shown(&mut self, key: &str) -> String {
        let node = self.node_of(key);
        let mut shown = node.shown(key);
        for group in GROUPS {
            shown += &node.say(&format!("XPENDING {key} {group}")).to_string();
            let rows = node.say(&format!("XPENDING {key} {group} - + 1000"));
            if let Value::Array(rows) = rows {
                for row in rows {
                    let Value::Array(row) = row else {
                        panic!("a row is an array");
                    };
                    shown += &format!("\n{} {} {}", row[0], row[1], row[3]);
                }
            }
        }
        shown
    }

    /// Carries keys to the nodes that serve them elsewhere, by MIGRATE, and sees that none stays here.
    fn carry(&mut self, keys: &[String], to: &Self) {
        let mut loads: BTreeMap<(usize, usize, u16), Vec<&str>> = BTreeMap::new();
        let mut counts = vec![0; to.nodes.len()];
        for key in keys {
            let slot = key_slot(key.as_bytes());
            let (from, target) = (self.owner_of(slot), to.owner_of(slot));
            // A node of a cluster takes keys of one slot at a time.
            let part = match self.shares.is_empty() {
                true => 0,
                false => slot,
            };
            loads.entry((from, target, part)).or_default().push(key);
            counts[target] += 1;
        }
        for ((from, target, _), keys) in loads {
            let port = to.ports[target].to_string();
            let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "30000", "KEYS"];
            words.extend(keys);
            assert_eq!(self.nodes[from].ask(&words).to_string(), "OK", "{words:?}");
        }
        for node in &mut self.nodes {
            assert_eq!(node.say("DBSIZE"), Value::Integer(0));
        }
        for (port, count) in to.ports.iter().zip(counts) {
            let address = SocketAddr::from(([127, 0, 0, 1], *port));
            let mut node = Side::new(address);
            assert_eq!(node.say("DBSIZE"), Value::Integer(count));
            assert!(count > 0, "each node has a part");
        }
    }
}

/// A row of CLUSTER SLOTS: a range, and which of the nodes at these ports serves it.
fn share(row: &Value, ports: &[u16]) -> (u16, u16, usize) {
    let Value::Array(row) = row else {
        panic!("no row: {row}");
    };
    let Value::Array(node) = &row[2] else {
        panic!("no node: {}", row[2]);
    };
    let number = |value: &Value| match value {
        Value::Integer(number) => u16::try_from(*number).unwrap(),
        other => panic!("no number: {other}"),
    };
    let port = number(&node[1]);
    let place = ports.iter().position(|own| *own == port);
    (number(&row[0]), number(&row[1]), place.unwrap())
}

const STREAMS: u64 = 240;
