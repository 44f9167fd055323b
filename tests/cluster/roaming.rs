//! A client of a whole cluster, as the libraries have them: it remembers who serves a slot, learns from MOVED, follows
//! ASK once, and tries again after TRYAGAIN.

use std::collections::BTreeMap;
use std::time::Duration;

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_storage::key_slot;
use tailrace_tests::Caller;
use tailrace_tests::Value;
use tailrace_tests::settle;

/// The client.
pub(super) struct Roaming<'a> {
    cluster: &'a Cluster,
    /// Its connections, by the ports of nodes.
    nodes: BTreeMap<u16, Caller>,
    /// The ports of those that serve slots, as it heard last.
    owners: BTreeMap<u16, u16>,
    asked: Option<Asked>,
    pub(super) sent_on: SentOn,
}

/// What it has asked without an answer yet.
struct Asked {
    slot: u16,
    port: u16,
    words: Vec<String>,
    /// The answer to ASKING comes first.
    is_asking: bool,
    /// It was told to try again.
    is_stalled: bool,
}

/// How often it was sent elsewhere or told to come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SentOn {
    pub(super) moved: usize,
    pub(super) asked: usize,
    pub(super) stalled: usize,
}

impl<'a> Roaming<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            nodes: BTreeMap::new(),
            owners: BTreeMap::new(),
            asked: None,
            sent_on: SentOn::default(),
        }
    }

    /// What it waits for an answer to.
    pub(super) fn waits_for(&self) -> Option<&[String]> {
        self.asked.as_ref().map(|asked| asked.words.as_slice())
    }

    /// Closes all its connections, whatever it waits for.
    pub(super) fn leave(&mut self) {
        self.nodes.clear();
        self.asked = None;
    }

    /// Sends a request about a key to who served its slot when it last heard of that.
    pub(super) fn begin(&mut self, key: &str, line: &str) {
        let view = self.cluster.view().unwrap();
        let slot = key_slot(key.as_bytes());
        let first = view.nodes[0].address.port;
        let port = *self.owners.entry(slot).or_insert(first);
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        self.caller(port).send(&words);
        self.asked = Some(Asked {
            slot,
            port,
            words,
            is_asking: false,
            is_stalled: false,
        });
    }

    /// The answer, if it is there. Goes where it is sent.
    pub(super) fn poll(&mut self) -> Option<Value> {
        let mut asked = self.asked.take()?;
        if std::mem::take(&mut asked.is_stalled) {
            asked.port = self.owners[&asked.slot];
            self.caller(asked.port).send(&asked.words);
        }
        let mut reply = self.caller(asked.port).poll();
        if asked.is_asking && reply.is_some() {
            assert_eq!(reply, Some(Value::Simple(b"OK".to_vec())), "to ASKING");
            asked.is_asking = false;
            reply = self.caller(asked.port).poll();
        }
        match reply {
            Some(Value::Error(error)) => {
                let error = String::from_utf8_lossy(&error).into_owned();
                let is_sent_on = self.go_where_sent(&mut asked, &error);
                if !is_sent_on {
                    return Some(Value::Error(error.into_bytes()));
                }
                self.asked = Some(asked);
                None
            }
            None => {
                self.asked = Some(asked);
                None
            }
            reply => reply,
        }
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn call(&mut self, key: &str, line: &str) -> Value {
        self.begin(key, line);
        for _ in 0..100 {
            settle().await;
            if let Some(reply) = self.poll() {
                return reply;
            }
        }
        panic!("no reply to {line}");
    }

    fn go_where_sent(&mut self, asked: &mut Asked, error: &str) -> bool {
        let words: Vec<&str> = error.split(' ').collect();
        let port = |place: &str| place.rsplit(':').next().unwrap().parse().unwrap();
        match words[..] {
            ["MOVED", slot, place] => {
                asked.port = port(place);
                self.owners.insert(slot.parse().unwrap(), asked.port);
                self.sent_on.moved += 1;
            }
            ["ASK", _, place] => {
                asked.port = port(place);
                asked.is_asking = true;
                self.caller(asked.port).send(&["ASKING"]);
                self.sent_on.asked += 1;
            }
            ["TRYAGAIN", ..] => {
                asked.is_stalled = true;
                self.sent_on.stalled += 1;
                return true;
            }
            _ => return false,
        }
        self.caller(asked.port).send(&asked.words);
        true
    }

    fn caller(&mut self, port: u16) -> &mut Caller {
        let cluster = self.cluster;
        self.nodes.entry(port).or_insert_with(|| {
            let view = cluster.view().unwrap();
            let place = view.nodes.iter().position(|node| node.address.port == port);
            Caller::connect_to(cluster, NodeIndex::new(place.unwrap()))
        })
    }
}

/// The answer to a command that other threads have a part in, so that turns do not bound it.
pub(super) async fn patiently(caller: &mut Caller, line: &str) -> Value {
    let words: Vec<&str> = line.split(' ').collect();
    caller.send(&words);
    let answered = async {
        loop {
            if let Some(reply) = caller.poll() {
                return reply;
            }
            tokio::task::yield_now().await;
        }
    };
    let reply = tokio::time::timeout(PATIENCE, answered).await;
    reply.unwrap_or_else(|_| panic!("no reply to {line}"))
}

/// How long another thread may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Chance, from a seed.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// The entries of a reply, however deep they lie: id and the value of the only field.
pub(super) fn entries(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Value::Array(parts) = value {
        match parts.as_slice() {
            [Value::Bulk(id), Value::Array(fields)]
                if matches!(fields[..], [Value::Bulk(_), Value::Bulk(_)]) =>
            {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                found.push((text(id), text(fields[1].text())));
            }
            parts => parts
                .iter()
                .for_each(|part| found.append(&mut entries(part))),
        }
    }
    found
}
