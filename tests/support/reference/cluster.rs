//! Reference servers as nodes of a cluster, each a process of its own.

use std::env;
use std::io::Error;
use std::io::Result;
use std::net::SocketAddr;
use std::time::Duration;

use super::Reference;
use super::STARTS_MAX;
use super::free_port;
use crate::client::Arrival;
use crate::client::Client;
use crate::target::Target;
use crate::target::really_wait;
use crate::value::Value;

impl Reference {
    /// Starts `binary` as a cluster of one node, and waits until it serves all slots.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_in_cluster(binary: &str) -> Result<Self> {
        let node = Self::start_node(binary)?;
        ask(node.address(), &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"])?;
        node.wait_for_cluster(1)?;
        Ok(node)
    }

    /// Starts `binary` several times, as one cluster, and waits until each node takes it for whole. The first nodes have
    /// fewer slots than the last ones, so that the shares are others than those of a cluster that spreads them evenly.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start_cluster(binary: &str, count: usize) -> Result<Vec<Self>> {
        let nodes: Result<Vec<Self>> = (0..count).map(|_| Self::start_node(binary)).collect();
        let nodes = nodes?;
        let first_slot = |number: usize| SLOTS * number * (number + 1) / (count * (count + 1));
        for (number, node) in nodes.iter().enumerate() {
            let (first, next) = (first_slot(number), first_slot(number + 1));
            let (first, last) = (first.to_string(), (next - 1).to_string());
            let epoch = (number + 1).to_string();
            ask(node.address(), &["CLUSTER", "SET-CONFIG-EPOCH", &epoch])?;
            ask(node.address(), &["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
        }
        for node in nodes.iter().skip(1) {
            let (port, bus) = (node.address().port().to_string(), node.bus().to_string());
            ask(
                nodes[0].address(),
                &["CLUSTER", "MEET", "127.0.0.1", &port, &bus],
            )?;
        }
        for node in &nodes {
            node.wait_for_cluster(count)?;
        }
        Ok(nodes)
    }

    /// Starts `binary` as a node that knows no other and serves nothing.
    fn start_node(binary: &str) -> Result<Self> {
        let dir = env::temp_dir();
        for _ in 0..STARTS_MAX {
            let port = free_port()?;
            // It describes the cluster in a file, which the next one must not find.
            let file = dir.join(format!(
                "tailrace-reference-{}-{port}.conf",
                std::process::id()
            ));
            let name = file.to_string_lossy().into_owned();
            // The bus has its own port, and none far above the other.
            let bus = free_port()?;
            let bus_text = bus.to_string();
            let args = [
                "--cluster-enabled",
                "yes",
                "--cluster-config-file",
                &name,
                "--cluster-port",
                &bus_text,
            ];
            if let Some(mut started) = Self::start_with(binary, port, &args)? {
                started.node = Some((bus, file));
                return Ok(started);
            }
        }
        Err(Error::other("the reference server does not start"))
    }

    /// The port of its bus.
    fn bus(&self) -> u16 {
        self.node.as_ref().map_or(0, |(bus, _)| *bus)
    }

    /// Waits until this node knows so many and all slots are served.
    fn wait_for_cluster(&self, nodes: usize) -> Result<()> {
        let marks = [
            "cluster_state:ok".to_owned(),
            format!("cluster_slots_assigned:{SLOTS}"),
            format!("cluster_known_nodes:{nodes}"),
        ];
        let mut info = String::new();
        for _ in 0..LOOKS_FOR_STATE {
            let reply = ask(self.address(), &["CLUSTER", "INFO"])?;
            info = String::from_utf8_lossy(reply.text()).into_owned();
            if marks
                .iter()
                .all(|mark| info.lines().any(|line| line == mark))
            {
                return Ok(());
            }
            really_wait(10);
        }
        Err(Error::other(format!(
            "the reference server does not serve its slots: {info}"
        )))
    }
}

/// Asks a server something on a connection of its own.
fn ask(address: SocketAddr, words: &[&str]) -> Result<Value> {
    let mut client = Client::connect(address)?;
    client.say(words);
    client.poll(Some(PATIENCE));
    match client.take() {
        Some(Arrival::Reply(Value::Error(error))) => {
            Err(Error::other(String::from_utf8_lossy(&error).into_owned()))
        }
        Some(Arrival::Reply(reply)) => Ok(reply),
        _ => Err(Error::other(format!("no reply to {words:?}"))),
    }
}

const SLOTS: usize = 16_384;

/// How long a reply may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks after which a cluster that is not whole stays so: the reference waits for two seconds first, and nodes hear of
/// each other once a second.
const LOOKS_FOR_STATE: usize = 3_000;
