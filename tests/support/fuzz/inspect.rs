//! What must hold whatever was sent, as far as a client can see it.

use std::collections::BTreeMap;

use tailrace_server::Millis;
use tailrace_server::Server;

use super::commands::SETTLE_TURNS;
use super::commands::turns;
use super::crowd::Fuzzed;
use crate::caller::Caller;
use crate::value::Value;

/// A client that looks at everything.
pub(super) struct Inspector {
    caller: Caller,
    /// Replies that have not come.
    owed: usize,
}

impl Inspector {
    /// It comes before the others, so that a password that they set does not keep it out.
    pub(super) async fn connect(server: &Server) -> Self {
        let mut inspector = Self {
            caller: Caller::connect(server),
            owed: 0,
        };
        inspector.call(&["HELLO", "3"]).await;
        inspector
    }

    /// Lays out some data, so that the first commands meet something.
    pub(super) async fn prepare(&mut self) {
        for command in PREPARED {
            let words: Vec<&str> = command.split(' ').collect();
            let reply = self.call(&words).await;
            assert!(!matches!(reply, Value::Error(_)), "{command}: {reply}");
        }
    }

    /// Looks at all data and all clients, and ends the clients.
    ///
    /// # Panics
    ///
    /// If something is not as it must be.
    pub(super) async fn check(mut self, server: &Server, clients: &mut [Fuzzed]) {
        let can_see = self.wake(server).await;
        if can_see {
            self.check_data().await;
            self.unblock_all(server).await;
            for client in &mut *clients {
                client.check_all();
            }
        }
        for client in clients {
            client.leave();
        }
        // A pause of writes would hold up FLUSHALL.
        server.advance(PAUSE_MAX);
        turns(SETTLE_TURNS).await;
        if can_see && self.wake(server).await {
            self.check_nothing_is_left().await;
        }
    }

    /// Waits until commands are executed and none are held. Whether this client's are: others may have ended it, and locked the door.
    async fn wake(&mut self, server: &Server) -> bool {
        for _ in 0..PAUSES_MAX {
            if self.caller.far().is_closed() {
                self.caller = Caller::connect(server);
                self.caller.send(&["HELLO", "3"]);
                self.owed = 1;
            }
            // Who was held goes on behind a command that was held with it, and may begin another pause. Only what is
            // answered at once, when nobody has anything left to do, says that there is none.
            let is_clear = self.owed == 0;
            self.caller.send(&["INFO", "clients"]);
            self.owed += 1;
            turns(SETTLE_TURNS).await;
            let mut last = Value::Null;
            while let Some(value) = self.caller.poll() {
                if !is_push(&value) {
                    last = value;
                    self.owed -= 1;
                }
            }
            match last {
                Value::Error(_) => return false,
                last if self.owed > 0 || !text(&last).contains("paused_reason:none") => {
                    server.advance(PAUSE_MAX);
                    turns(SETTLE_TURNS).await;
                }
                _ if is_clear => return true,
                _ => {}
            }
        }
        panic!("a pause does not end");
    }

    async fn call(&mut self, words: &[&str]) -> Value {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.call_bytes(&words).await
    }

    async fn call_bytes(&mut self, words: &[&[u8]]) -> Value {
        self.caller.send(words);
        loop {
            let value = self.caller.reply().await;
            if !is_push(&value) {
                return value;
            }
        }
    }

    async fn check_data(&mut self) {
        for db in self.databases().await {
            self.call(&["SELECT", &db]).await;
            let keys = elements(&self.call(&["KEYS", "*"]).await);
            let mut seen = self.scan().await;
            seen.sort();
            let mut named: Vec<Vec<u8>> = keys.iter().map(|key| key.text().to_vec()).collect();
            named.sort();
            assert!(seen == named, "SCAN and KEYS see different keys");
            for key in &named {
                match self.call_bytes(&[b"TYPE", key]).await.text() {
                    b"stream" => self.check_stream(key).await,
                    b"string" => {
                        let value = self.call_bytes(&[b"GET", key]).await;
                        let len = integer(&self.call_bytes(&[b"STRLEN", key]).await);
                        assert_eq!(usize::try_from(len), Ok(value.text().len()));
                    }
                    other => panic!("a key that is {:?}", other.escape_ascii().to_string()),
                }
                let usage = integer(&self.call_bytes(&[b"MEMORY", b"USAGE", key]).await);
                assert!(usage > 0);
            }
        }
    }

    /// Those that have keys.
    async fn databases(&mut self) -> Vec<String> {
        let info = self.call(&["INFO", "keyspace"]).await;
        let info = String::from_utf8_lossy(info.text()).into_owned();
        let lines = info.lines().filter_map(|line| line.strip_prefix("db"));
        let numbers = lines.filter_map(|line| line.split_once(':'));
        numbers.map(|(number, _)| number.to_owned()).collect()
    }

    async fn scan(&mut self) -> Vec<Vec<u8>> {
        let mut seen = Vec::new();
        let mut cursor = "0".to_owned();
        for _ in 0..PAGES_MAX {
            let page = elements(&self.call(&["SCAN", &cursor, "COUNT", "3"]).await);
            seen.extend(elements(&page[1]).iter().map(|key| key.text().to_vec()));
            cursor = text(&page[0]);
            if cursor == "0" {
                return seen;
            }
        }
        panic!("SCAN does not end");
    }

    async fn check_stream(&mut self, key: &[u8]) {
        let full = self
            .call_bytes(&[b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"0"])
            .await;
        let full = fields(&full);
        let len = integer(&full["length"]);
        let entries = elements(&full["entries"]);
        let ids: Vec<Id> = entries
            .iter()
            .map(|entry| id(&elements(entry)[0]))
            .collect();
        assert_eq!(usize::try_from(len), Ok(ids.len()));
        assert!(
            ids.is_sorted_by(|one, next| one < next),
            "entries are out of order"
        );
        let last = id(&full["last-generated-id"]);
        assert!(ids.last().is_none_or(|id| *id <= last));
        assert!(id(&full["max-deleted-entry-id"]) <= last);
        let first = ids.first().copied().unwrap_or((0, 0));
        assert_eq!(id(&full["recorded-first-entry-id"]), first);
        let added = integer(&full["entries-added"]);
        assert!(
            added < 0 || added >= len,
            "{added} were added and {len} are there"
        );

        assert_eq!(integer(&self.call_bytes(&[b"XLEN", key]).await), len);
        let range = self.call_bytes(&[b"XRANGE", key, b"-", b"+"]).await;
        assert!(
            elements(&range) == entries,
            "XRANGE and XINFO see different entries"
        );
        let mut reversed = elements(&self.call_bytes(&[b"XREVRANGE", key, b"+", b"-"]).await);
        reversed.reverse();
        assert!(reversed == entries, "XREVRANGE is not XRANGE backwards");
        let groups = elements(&full["groups"]);
        let listed = elements(&self.call_bytes(&[b"XINFO", b"GROUPS", key]).await);
        assert_eq!(groups.len(), listed.len());
        for (group, listed) in groups.iter().zip(&listed) {
            self.check_group(key, &fields(group), &fields(listed)).await;
        }
    }

    /// An entry is pending for a group if and only if it is so for exactly one of its consumers.
    async fn check_group(&mut self, key: &[u8], full: &Fields, listed: &Fields) {
        let name = full["name"].text();
        let pending = elements(&full["pending"]);
        let count = integer(&full["pel-count"]);
        assert_eq!(usize::try_from(count), Ok(pending.len()));
        let mut of_group: Vec<(Id, Vec<u8>)> = Vec::new();
        for entry in &pending {
            let entry = elements(entry);
            of_group.push((id(&entry[0]), entry[1].text().to_vec()));
        }
        assert!(
            of_group.is_sorted_by(|one, next| one.0 < next.0),
            "pending entries are out of order"
        );

        let consumers = elements(&full["consumers"]);
        let mut of_consumers = Vec::new();
        let mut counts = Vec::new();
        for consumer in &consumers {
            let consumer = fields(consumer);
            let (name, held) = (consumer["name"].text(), elements(&consumer["pending"]));
            assert_eq!(
                usize::try_from(integer(&consumer["pel-count"])),
                Ok(held.len())
            );
            of_consumers.extend(
                held.iter()
                    .map(|entry| (id(&elements(entry)[0]), name.to_vec())),
            );
            if !held.is_empty() {
                counts.push((name.to_vec(), held.len().to_string()));
            }
        }
        of_consumers.sort();
        assert!(
            of_consumers == of_group,
            "the group and its consumers differ on what is pending"
        );

        assert_eq!(listed["name"].text(), name);
        assert_eq!(integer(&listed["pending"]), count);
        assert_eq!(
            usize::try_from(integer(&listed["consumers"])),
            Ok(consumers.len())
        );
        let each = elements(&self.call_bytes(&[b"XINFO", b"CONSUMERS", key, name]).await);
        let total: i64 = each
            .iter()
            .map(|consumer| integer(&fields(consumer)["pending"]))
            .sum();
        assert_eq!((each.len(), total), (consumers.len(), count));

        let summary = elements(&self.call_bytes(&[b"XPENDING", key, name]).await);
        assert_eq!(integer(&summary[0]), count);
        if let (Some((first, _)), Some((last, _))) = (of_group.first(), of_group.last()) {
            assert_eq!((id(&summary[1]), id(&summary[2])), (*first, *last));
            let shown = elements(&summary[3])
                .iter()
                .map(elements)
                .map(|pair| (pair[0].text().to_vec(), text(&pair[1])))
                .collect::<Vec<_>>();
            assert!(shown == counts, "XPENDING counts otherwise");
        }
        let all = count.to_string();
        let extended = [b"XPENDING", key, name, b"-", b"+", all.as_bytes()];
        let extended = elements(&self.call_bytes(&extended).await);
        let extended: Vec<Id> = extended
            .iter()
            .map(|entry| id(&elements(entry)[0]))
            .collect();
        assert!(extended.iter().eq(of_group.iter().map(|(id, _)| id)));
    }

    /// Lets everybody who waits go on, until nobody does.
    async fn unblock_all(&mut self, server: &Server) {
        for _ in 0..WAITS_MAX {
            let list = self.call(&["CLIENT", "LIST"]).await;
            let list = String::from_utf8_lossy(list.text()).into_owned();
            let waiting = list
                .lines()
                .filter(|line| line.contains(" flags=") && flags(line).contains('b'));
            let waiting: Vec<String> = waiting.filter_map(|line| field(line, "id=")).collect();
            if waiting.is_empty() {
                return;
            }
            for id in waiting {
                // Who goes on may begin a pause, and the reply is late.
                self.caller.send(&["CLIENT", "UNBLOCK", &id]);
                self.owed += 1;
            }
            // Before time passes, or it may close this client as an idle one.
            turns(SETTLE_TURNS).await;
            // What a pause of writes holds is not let go by that.
            server.advance(PAUSE_MAX);
            turns(SETTLE_TURNS).await;
            if !self.wake(server).await {
                return;
            }
        }
        panic!("clients wait without end");
    }

    /// Nobody is left but this client, and when the data is gone no memory is in use for it.
    async fn check_nothing_is_left(&mut self) {
        let list = self.call(&["CLIENT", "LIST"]).await;
        let list = String::from_utf8_lossy(list.text()).into_owned();
        assert_eq!(list.lines().count(), 1, "{list}");
        let clients = self.info("clients").await;
        for name in [
            "blocked_clients",
            "watching_clients",
            "pubsub_clients",
            "tracking_clients",
            "total_watched_keys",
            "total_blocking_keys",
        ] {
            assert_eq!(clients[name], "0", "{name}");
        }
        assert_eq!(elements(&self.call(&["PUBSUB", "CHANNELS"]).await), []);
        assert_eq!(self.call(&["PUBSUB", "NUMPAT"]).await, Value::Integer(0));
        self.call(&["FLUSHALL"]).await;
        let memory = self.info("memory").await;
        assert_eq!(memory["used_memory_dataset"], "0");
    }

    async fn info(&mut self, section: &str) -> BTreeMap<String, String> {
        let info = self.call(&["INFO", section]).await;
        let info = String::from_utf8_lossy(info.text()).into_owned();
        let pairs = info.lines().filter_map(|line| line.split_once(':'));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }
}

/// Others may have what they cache told to this client.
fn is_push(value: &Value) -> bool {
    matches!(value, Value::Push(_))
}

type Id = (u64, u64);
type Fields = BTreeMap<String, Value>;

fn id(value: &Value) -> Id {
    let text = text(value);
    let parts = text.split_once('-').expect("an ID has two parts");
    let number = |part: &str| part.parse().expect("a part of an ID is a number");
    (number(parts.0), number(parts.1))
}

fn text(value: &Value) -> String {
    String::from_utf8_lossy(value.text()).into_owned()
}

fn integer(value: &Value) -> i64 {
    match value {
        Value::Integer(number) => *number,
        other => panic!("{other} is no number"),
    }
}

fn elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(elements) | Value::Set(elements) => elements.clone(),
        other => panic!("{other} is no array"),
    }
}

fn fields(value: &Value) -> Fields {
    let Value::Map(pairs) = value else {
        panic!("{value} is no map");
    };
    let pairs = pairs.chunks_exact(2);
    pairs
        .map(|pair| (text(&pair[0]), pair[1].clone()))
        .collect()
}

fn field(line: &str, name: &str) -> Option<String> {
    let mut words = line.split(' ');
    words
        .find_map(|word| word.strip_prefix(name))
        .map(str::to_owned)
}

fn flags(line: &str) -> String {
    field(line, "flags=").unwrap_or_default()
}

/// A stream with a group, whose consumers have some of its entries; a group that waits for entries; a string.
const PREPARED: &[&str] = &[
    "XADD s 1-1 f v",
    "XADD s 1-2 f v g w",
    "XADD s 2-1 f 1",
    "XADD s 3-0 f v",
    "XGROUP CREATE s g 0",
    "XREADGROUP GROUP g a COUNT 2 STREAMS s >",
    "XREADGROUP GROUP g b COUNT 1 STREAMS s >",
    "XGROUP CREATE t g $ MKSTREAM",
    "SET k v",
];

/// Longer than a pause or a sleep of one command can be.
const PAUSE_MAX: Millis = Millis(10_000_000);
/// More than the commands of an input.
const PAUSES_MAX: usize = 1_000;
const WAITS_MAX: usize = 1_000;
const PAGES_MAX: usize = 1_000;
