//! Where a client is told that a node is.
//!
//! Always at a host that the client can use: the one that was announced, or else the one that it reached this
//! process at itself. Common clients do not understand a host that is left out.

use super::Address;
use super::Node;
use super::View;
use crate::client::Client;
use crate::client::ClientId;
use crate::config::ClusterSettings;
use crate::config::EndpointKind;
use crate::state::State;

/// A node, as one client is to find it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Endpoint {
    /// The address of its host.
    pub(crate) ip: String,
    /// Its port.
    pub(crate) port: u16,
    /// The name of its host; empty if it says none.
    pub(crate) host_name: String,
}

impl Endpoint {
    /// Where `client` finds a node.
    pub(crate) fn of(node: &Node, client: &Client) -> Self {
        let address = &node.address;
        let reached = reached_at(client);
        let announced = match reached.contains(':') {
            true => &address.ipv6,
            false => &address.ipv4,
        };
        let ip = match (&address.host, announced.is_empty()) {
            (_, false) => announced,
            (Some(host), true) => host,
            (None, true) => reached,
        };
        Self {
            ip: ip.to_owned(),
            port: match address.client_port {
                0 => address.port,
                port => port,
            },
            host_name: address.host_name.clone(),
        }
    }

    /// What clients are told to connect to.
    pub(crate) fn preferred(&self, kind: EndpointKind) -> &str {
        match kind {
            EndpointKind::Ip => &self.ip,
            EndpointKind::HostName if self.host_name.is_empty() => "?",
            EndpointKind::HostName => &self.host_name,
            EndpointKind::Unknown => "",
        }
    }
}

/// The host at which a client reached this process.
fn reached_at(client: &Client) -> &str {
    let host = client.laddr.rsplit_once(':').map_or("", |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(_) => host,
        // It came without a network.
        Err(_) => "127.0.0.1",
    }
}

impl State {
    /// The port of the node that a client is connected to.
    pub(crate) fn port_of(&self, id: ClientId) -> u16 {
        match self.seat_of(id) {
            Some((client, view)) => view.node(client.face).address.listened_on,
            None => self.info.port,
        }
    }

    /// Where the primary is of the node that a client is connected to, if that is a replica.
    pub(crate) fn primary_endpoint(&self, id: ClientId) -> Option<Endpoint> {
        let (client, view) = self.seat_of(id)?;
        let primary = view.node(client.face).replica_of?;
        Some(Endpoint::of(view.node(primary), client))
    }

    /// Whether the primary is down of the node that a client is connected to.
    pub(crate) fn is_primary_down(&self, id: ClientId) -> bool {
        let seat = self.seat_of(id);
        seat.is_some_and(|(client, view)| view.is_down(view.primary_of(client.face)))
    }

    /// Where the replicas are of the node that a client is connected to, but for those that are down.
    pub(crate) fn replica_endpoints(&self, id: ClientId) -> Vec<Endpoint> {
        let Some((client, view)) = self.seat_of(id) else {
            return Vec::new();
        };
        let replicas = view.replicas_of(client.face);
        replicas
            .filter(|replica| !view.is_down(*replica))
            .map(|replica| Endpoint::of(view.node(replica), client))
            .collect()
    }

    fn seat_of(&self, id: ClientId) -> Option<(&Client, &View)> {
        let (client, cluster) = (self.clients.get(id)?, self.cluster.as_ref()?);
        Some((client, cluster.view_for(client.face)))
    }
}

impl Address {
    /// Says what the settings say of where it is.
    pub(crate) fn announce(&mut self, settings: &ClusterSettings, zone: Option<&[u8]>) {
        let number = self.number;
        let offset = |first: u16| match first {
            0 => 0,
            first => first.saturating_add(number),
        };
        let announced = Some(&settings.announced_host).filter(|host| !host.is_empty());
        self.host = announced.or(self.given_host.as_ref()).cloned();
        self.port = match offset(settings.announced_port) {
            0 => self.listened_on,
            port => port,
        };
        self.bus_port = match (settings.announced_bus_port, settings.bus_port) {
            (0, 0) => bus_port(self.port),
            (0, port) | (port, _) => offset(port),
        };
        self.host_name.clone_from(&settings.announced_host_name);
        if self.host_name.is_empty()
            && let Some(name) = &self.given_host
            && name.parse::<std::net::IpAddr>().is_err()
        {
            self.host_name.clone_from(name);
        }
        self.ipv4.clone_from(&settings.announced_ipv4);
        self.ipv6.clone_from(&settings.announced_ipv6);
        self.client_port = offset(settings.announced_client_port);
        self.zone = zone.unwrap_or_default().to_vec();
    }
}

/// The port that the reference would have its bus on.
pub(super) fn bus_port(port: u16) -> u16 {
    // A free port may lie too high for that; nobody connects to it anyway.
    port.checked_add(BUS_PORT_DISTANCE)
        .unwrap_or_else(|| port - BUS_PORT_DISTANCE)
}

const BUS_PORT_DISTANCE: u16 = 10_000;
