//! What the Rust life cycles share.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::env;
use std::error::Error;
use std::hash::BuildHasher;
use std::process;

pub const GROUP: &str = "workers";

/// How often the second connection looks whether the first one waits. Each look is a round trip.
pub const LOOKS_MAX: usize = 20_000;

pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// What a life cycle is told: `HOST:PORT PROTOCOL default|explicit|cluster`.
pub struct Options {
    pub address: String,

    /// Where the one connects that looks on and wakes the other: the node that has the key.
    pub node: String,
    pub protocol: u8,

    /// Whether the client is asked for the protocol, or has to speak it by itself.
    pub is_explicit: bool,

    /// Whether the client is the one for clusters.
    pub is_cluster: bool,
}

impl Options {
    pub fn from_args() -> Self {
        let args: Vec<String> = env::args().skip(1).collect();
        let [address, protocol, choice] = args.as_slice() else {
            panic!("usage: HOST:PORT PROTOCOL default|explicit|cluster");
        };
        Self {
            address: address.clone(),
            node: env::var("CLIENTS_NODE").unwrap_or_else(|_| address.clone()),
            protocol: protocol.parse().expect("a protocol is 2 or 3"),
            is_explicit: choice == "explicit",
            is_cluster: choice == "cluster",
        }
    }

    /// What CLIENT INFO says about a connection that speaks the right protocol.
    pub fn protocol_in_client_info(&self) -> String {
        format!(" resp={} ", self.protocol)
    }
}

/// A key that no other run uses, so that runs do not meet on a server that they share.
///
/// In a cluster it is given, together with the address of the node that has it.
pub fn unused_key(client: &str) -> String {
    if let Ok(key) = env::var("CLIENTS_KEY") {
        return key;
    }
    let random = RandomState::new().hash_one(client);
    format!("clients:{client}:{}:{random:x}", process::id())
}

/// Reads the number of waiting clients from the text of INFO.
pub fn blocked_clients(info: &str) -> u64 {
    let count = info
        .lines()
        .find_map(|line| line.strip_prefix("blocked_clients:"));
    count
        .and_then(|count| count.parse().ok())
        .expect("INFO has blocked_clients")
}

/// How many pending entries were delivered how often.
pub fn tallied(counts: impl IntoIterator<Item = usize>) -> BTreeMap<usize, usize> {
    let mut tally = BTreeMap::new();
    for count in counts {
        *tally.entry(count).or_default() += 1;
    }
    tally
}
