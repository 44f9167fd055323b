//! Which of the nodes that a file describes are in this process.
//!
//! A node is known by its port. Where several have that port, it is the one whose host is announced; without that the one
//! whose host this process listens at; and without that the one whose host is an address of this machine. So the same
//! file and the same command will do on each machine.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::ToSocketAddrs;
use std::net::UdpSocket;

use tailrace_storage::SLOT_COUNT;

use super::Address;
use super::TopologyError;
use super::View;
use super::file;
use crate::config::ClusterSettings;

/// Reads a file, and finds the places of the nodes of this process, which listen at these addresses.
pub(super) fn read(
    path: &str,
    nodes: &[Address],
    listening: Vec<Vec<SocketAddr>>,
    settings: &ClusterSettings,
) -> Result<(View, Vec<usize>), TopologyError> {
    if settings.replicas > 0 {
        return Err(TopologyError::new(format!(
            "cluster-topology {path}: a file describes primaries only; leave out 'replicas'"
        )));
    }
    let mut view = file::read(path)?;
    let mut own = Vec::new();
    for (engine, (node, listening)) in nodes.iter().zip(listening).enumerate() {
        let mut announced = node.clone();
        announced.announce(settings, None);
        let port = announced.port;
        let place = find(&view, port, &settings.announced_host, &listening)
            .map_err(|why| TopologyError::new(format!("cluster-topology {path}: {why}")))?;
        view.nodes[place].engine = Some(engine);
        let own_address = &mut view.nodes[place].address;
        own_address.listened_on = node.listened_on;
        own_address.number = node.number;
        if !is_reached(own_address, settings, &listening) {
            tracing::warn!(
                "cluster-topology {path}: clients are told to find the node of port {port} at {}, but it listens on \
                 this machine's loopback only; say where to listen with --bind",
                host(&view, place)
            );
        }
        own.push(place);
    }
    warn_of_gaps(path, &view);
    Ok((view, own))
}

/// The place of the node that this process is at a port.
fn find(
    view: &View,
    port: u16,
    announced: &str,
    listening: &[SocketAddr],
) -> Result<usize, String> {
    let places = 0..view.nodes.len();
    let mut places: Vec<usize> = places
        .filter(|place| view.nodes[*place].address.port == port)
        .collect();
    let is_announced = |host: &str| host == announced;
    let is_listened_at = |host: &str| listening.iter().any(|at| Ok(at.ip()) == host.parse());
    let rules: &[&dyn Fn(&str) -> bool] = match announced {
        "" => &[&is_listened_at, &is_of_this_machine],
        _ => &[&is_announced],
    };
    for is_own in rules {
        if places.len() > 1 {
            let own = places.iter().filter(|place| is_own(host(view, **place)));
            let own: Vec<usize> = own.copied().collect();
            if !own.is_empty() {
                places = own;
            }
        }
    }
    match places[..] {
        [place] => Ok(place),
        [] => {
            let ports: BTreeSet<u16> = view.nodes.iter().map(|node| node.address.port).collect();
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            Err(format!(
                "no node has the port {port}; start at a port of the file with --port ({}), or add a [[node]]",
                ports.join(", ")
            ))
        }
        _ => {
            let hosts: Vec<&str> = places.iter().map(|place| host(view, *place)).collect();
            Err(format!(
                "several nodes have the port {port}; say with --cluster-announce-ip which host this is ({})",
                hosts.join(", ")
            ))
        }
    }
}

fn host(view: &View, place: usize) -> &str {
    view.nodes[place].address.host.as_deref().unwrap_or("")
}

/// Whether a host, by address or by name, is one that this machine could listen at.
fn is_of_this_machine(host: &str) -> bool {
    let addresses = (host, 0).to_socket_addrs().into_iter().flatten();
    addresses
        .into_iter()
        .any(|address| UdpSocket::bind(address).is_ok())
}

/// Whether clients elsewhere can reach a node at all, as far as can be told from here.
fn is_reached(own: &Address, settings: &ClusterSettings, listening: &[SocketAddr]) -> bool {
    let is_loopback = |ip: IpAddr| ip.is_loopback();
    let is_told_elsewhere = |host: &String| host.parse().is_ok_and(|ip| !is_loopback(ip));
    // Where an address is announced, somebody may pass on what comes there.
    !settings.announced_host.is_empty()
        || !own.host.as_ref().is_some_and(is_told_elsewhere)
        || !listening.iter().all(|at| is_loopback(at.ip()))
}

/// Says which slots nobody serves, since commands are refused until somebody does.
fn warn_of_gaps(path: &str, view: &View) {
    let gaps: Vec<u16> = (0..SLOT_COUNT)
        .filter(|slot| view.owner_of(*slot).is_none())
        .collect();
    if let Some(first) = gaps.first() {
        tracing::warn!(
            "cluster-topology {path}: no node serves the slot {first} and {} others, so commands are refused with \
             CLUSTERDOWN; give them to nodes, or set cluster-require-full-coverage no",
            gaps.len() - 1
        );
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::View;
    use super::file;
    use super::find;

    /// The place that is found in a cluster of these addresses, at port 7000.
    fn found(addresses: &[&str], announced: &str, listening: &[&str]) -> Result<usize, String> {
        let mut text = String::new();
        for (number, address) in addresses.iter().enumerate() {
            text += &format!("[[node]]\nid = '{number:040}'\naddress = '{address}'\n");
        }
        let view: View = file::parse(&text).unwrap();
        let listening: Vec<SocketAddr> = listening.iter().map(|at| at.parse().unwrap()).collect();
        find(&view, 7_000, announced, &listening)
    }

    #[test]
    fn the_port_tells_which_node_it_is() {
        let addresses = ["203.0.113.9:7001", "203.0.113.9:7000"];
        assert_eq!(found(&addresses, "", &[]), Ok(1));
        assert_eq!(found(&addresses, "203.0.113.77", &[]), Ok(1));
    }

    #[test]
    fn where_several_have_the_port_the_host_does() {
        let addresses = ["203.0.113.8:7000", "203.0.113.9:7000", "127.0.0.1:7000"];
        assert_eq!(found(&addresses, "203.0.113.9", &[]), Ok(1));
        assert_eq!(found(&addresses, "", &["203.0.113.8:7000"]), Ok(0));
        assert_eq!(found(&addresses, "", &["0.0.0.0:7000"]), Ok(2));
    }

    #[test]
    fn what_is_not_clear_is_asked_for() {
        let error = found(&["h:7001", "h:7002"], "", &[]).unwrap_err();
        assert!(error.contains("with --port (7001, 7002)"), "{error}");
        let addresses = ["203.0.113.8:7000", "203.0.113.9:7000"];
        for announced in ["", "203.0.113.1"] {
            let error = found(&addresses, announced, &["[::]:7000"]).unwrap_err();
            assert!(
                error.contains(
                    "--cluster-announce-ip which host this is (203.0.113.8, 203.0.113.9)"
                ),
                "{error}"
            );
        }
    }
}
