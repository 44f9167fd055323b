//! Clusters of several processes: a file that tells all of them which nodes there are.
//!
//! ```toml
//! [[node]]
//! id = "0123456789012345678901234567890123456789"   # 40 hexadecimal digits
//! address = "10.0.0.1:7000"
//! slots = "0-8191"                                    # or several: "0-99 200 300-399"
//! ```
//!
//! Each process finds its own nodes by the ports that it listens on, and among those of one port by the host that it
//! announces. Nothing goes from process to process: clients learn from any node where a slot is served.

use std::fmt;
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use serde::Deserialize;
use tailrace_storage::SLOT_COUNT;

use super::Address;
use super::Node;
use super::NodeIndex;
use super::View;
use super::endpoint::bus_port;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    node: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    address: String,
    #[serde(default)]
    slots: String,
}

/// What is wrong with a description of a cluster.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TopologyError(String);

impl TopologyError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TopologyError {}

/// Reads a file.
pub(super) fn read(path: &str) -> Result<View, TopologyError> {
    let shown = Path::new(path).display();
    let text = fs::read_to_string(path).map_err(|error| {
        let problem = crate::config::system_message(&error);
        TopologyError(format!(
            "cluster-topology {shown}: {problem}; check the path"
        ))
    })?;
    parse(&text)
        .map_err(|TopologyError(why)| TopologyError(format!("cluster-topology {shown}: {why}")))
}

/// Reads the text of a file.
pub(super) fn parse(text: &str) -> Result<View, TopologyError> {
    let file: File = toml::from_str(text).map_err(|error| not_understood(text, &error))?;
    if file.node.is_empty() {
        return Err(TopologyError::new(
            "it names no [[node]]; each has an id, an address and slots",
        ));
    }
    let mut nodes: Vec<Node> = Vec::new();
    for (place, entry) in file.node.iter().enumerate() {
        let node = entry.node(place)?;
        for other in &nodes {
            if other.id == node.id {
                let id = &node.id;
                return Err(TopologyError(format!(
                    "two nodes have the id {id}; {NEW_ID} makes another"
                )));
            }
            if (&other.address.host, other.address.port) == (&node.address.host, node.address.port)
            {
                return Err(TopologyError(format!(
                    "two nodes have the address {}; give each its own host or port",
                    entry.address
                )));
            }
        }
        nodes.push(node);
    }
    let mut view = View::new(nodes);
    for (place, entry) in file.node.iter().enumerate() {
        for slot in slots(&entry.slots)? {
            if let Some(other) = view.owner_of(slot) {
                return Err(TopologyError(format!(
                    "two nodes serve the slot {slot}, {} and {}; leave it to one of them",
                    file.node[other.place()].address,
                    entry.address
                )));
            }
            view.set_owner(slot, Some(NodeIndex::new(place)));
        }
    }
    Ok(view)
}

/// What is wrong with the form of a file, and in which line.
fn not_understood(text: &str, error: &toml::de::Error) -> TopologyError {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = before.map(|before| format!("line {}: ", before.matches('\n').count() + 1));
    let what = error.message().replace('\n', ", ");
    TopologyError(place.unwrap_or_default() + &what)
}

impl Entry {
    fn node(&self, place: usize) -> Result<Node, TopologyError> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if self.id.len() != 40 || !self.id.bytes().all(is_digit) {
            let problem = format!(
                "the id '{}' is not 40 lower-case hexadecimal digits; {NEW_ID} makes one",
                self.id
            );
            return Err(TopologyError(problem));
        }
        let (host, port) = address(&self.address).ok_or_else(|| {
            TopologyError(format!(
                "the address '{}' is not HOST:PORT, as clients reach the node",
                self.address
            ))
        })?;
        Ok(Node {
            id: self.id.clone(),
            shard: self.id.clone(),
            address: Address {
                host_name: match host.parse::<IpAddr>() {
                    Ok(_) => String::new(),
                    Err(_) => host.to_owned(),
                },
                host: Some(host.to_owned()),
                given_host: Some(host.to_owned()),
                listened_on: port,
                port,
                bus_port: bus_port(port),
                ..Address::default()
            },
            replica_of: None,
            epoch: place as u64 + 1,
            migrating: Default::default(),
            importing: Default::default(),
            engine: None,
            circle: 0,
        })
    }
}

fn address(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let is_any = |ip: IpAddr| ip.is_unspecified();
    let is_reached = !host.is_empty() && !host.parse().is_ok_and(is_any);
    is_reached.then_some((host, port))
}

/// Reads slots and ranges of them, with blanks or commas between.
fn slots(text: &str) -> Result<Vec<u16>, TopologyError> {
    let mut slots = Vec::new();
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let number = |text: &str| text.parse::<u16>().ok().filter(|slot| *slot < SLOT_COUNT);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => slots.extend(first..=last),
            _ => {
                return Err(TopologyError(format!(
                    "'{word}' is no slot or range of slots; they go from 0 to {}, as in \"0-99 200\"",
                    SLOT_COUNT - 1
                )));
            }
        }
    }
    Ok(slots)
}

/// How to come by an id.
const NEW_ID: &str = "`openssl rand -hex 20`";

#[cfg(test)]
mod tests {
    use super::NodeIndex;
    use super::parse;

    fn node(digit: char, rest: &str) -> String {
        let id = digit.to_string().repeat(40);
        format!("[[node]]\nid = \"{id}\"\n{rest}\n")
    }

    #[test]
    fn a_file_tells_who_serves_what() {
        let text = node('a', "address = '10.0.0.1:7000'\nslots = '0-9 11, 13-14'")
            + &node('b', "address = '[::1]:7001'\nslots = '10'");
        let view = parse(&text).unwrap();
        let (a, b) = (NodeIndex::new(0), NodeIndex::new(1));
        assert_eq!(view.ranges_of(a), [(0, 9), (11, 11), (13, 14)]);
        assert_eq!(view.ranges_of(b), [(10, 10)]);
        assert_eq!(view.node(b).address.host.as_deref(), Some("::1"));
        assert_eq!(view.node(b).address.port, 7_001);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let one = node('a', "address = 'h:1'\nslots = '1'");
        for (text, problem) in [
            (String::new(), "it names no [[node]]"),
            (one.clone() + &one, "two nodes have the id"),
            (
                one.clone() + &node('b', "address = 'h:2'\nslots = '0-1'"),
                "two nodes serve the slot 1, h:1 and h:2; leave it",
            ),
            (
                one.clone() + &node('b', "address = 'h:1'"),
                "two nodes have the address h:1; give each",
            ),
            (node('a', "address = 'h'"), "is not HOST:PORT"),
            (node('a', "address = '0.0.0.0:1'"), "is not HOST:PORT"),
            (
                node('g', "address = 'h:1'"),
                "hexadecimal digits; `openssl rand",
            ),
            (
                node('a', "address = 'h:1'\nslots = '7-3'"),
                "'7-3' is no slot or range of slots; they go from 0 to 16383",
            ),
            (
                node('a', "address = 'h:1'\nslot = '7'"),
                "line 4: unknown field `slot`, expected one of `id`, `address`, `slots`",
            ),
            (
                node('a', "address = 'h:1'\nslots = 7"),
                "line 4: invalid type: integer `7`, expected a string",
            ),
            (
                "[[node]]\nid = 'a'".to_owned(),
                "line 1: missing field `address`",
            ),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
