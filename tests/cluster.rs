//! Clusters: who serves what, how clients are sent on, and what happens to work while slots and roles move.

mod nodes;
mod open_slots;
mod processes;
mod resharding;
mod roaming;
mod roles;
mod slot_moves;
mod slots;
mod waiting;
mod work;

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_tests::Caller;

/// A client of a node, by its place: primaries come first, then replicas.
fn caller(cluster: &Cluster, place: usize) -> Caller {
    Caller::connect_to(cluster, NodeIndex::new(place))
}

/// The port of a node.
fn port(cluster: &Cluster, place: usize) -> u16 {
    cluster.view().unwrap().nodes[place].address.port
}

/// The id of a node.
fn id(cluster: &Cluster, place: usize) -> String {
    cluster.view().unwrap().nodes[place].id.clone()
}

/// Sends a command and gives the reply as a transcript shows it.
async fn say(caller: &mut Caller, command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    caller.call(&words).await.to_string()
}

/// The slot of `{u}`.
const U: u16 = 11_826;
