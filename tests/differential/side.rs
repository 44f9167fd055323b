//! One of the two servers, and the clients that talk to it.

use std::mem;
use std::net::SocketAddr;
use std::time::Duration;

use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::Target;
use tailrace_tests::Value;

use super::texts;

/// A server and its clients. These stay from one sequence to the next.
pub(super) struct Side {
    target: Box<dyn Target + Send>,
    version: &'static str,
    pub(super) control: Line,
    pub(super) clients: Vec<Line>,
}

/// One connection, whose client knows where the replies to its commands end.
pub(super) struct Line {
    address: SocketAddr,
    client: Client,
    marks: u64,
    /// What the server calls it.
    id: String,
    /// The address that others connect from who are not to be seen in what it monitors.
    unseen: Option<SocketAddr>,
    /// Where it connected from in this sequence, the present connection last.
    locals: Vec<String>,
}

impl Side {
    /// Connects so many clients, which speak RESP `version`.
    pub(super) fn new(
        target: Box<dyn Target + Send>,
        version: &'static str,
        clients: usize,
    ) -> Self {
        let address = target.address();
        let mut control = Line::connect(address, None);
        control.ask(&["HELLO", version]);
        control.ask(&["CLIENT", "SETNAME", CONTROL]);
        // Where keys are removed in turns, these are to come soon.
        control.ask(&["CONFIG", "SET", "hz", "500"]);
        let unseen = Some(control.client.local());
        Self {
            control,
            clients: (0..clients)
                .map(|_| Line::connect(address, unseen))
                .collect(),
            target,
            version,
        }
    }

    /// Empties the server and makes its clients as new.
    pub(super) fn reset(&mut self) {
        self.control.say_lines(RESET);
        self.control.mark();
        self.control.until_mark();
        for line in &mut self.clients {
            line.begin_reset(self.version);
        }
        for line in &mut self.clients {
            line.end_reset(self.version);
        }
        // What the clients did until they were as new does not count.
        self.control.say_lines(&["CONFIG RESETSTAT"]);
        self.control.mark();
        self.control.until_mark();
    }

    /// The words for what a server calls its clients: `$client0` for the number of the first of them, `$address0`
    /// for where it connects from, `$server` for where it connects to.
    pub(super) fn resolved(&self, word: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(word).ok()?;
        if text == "$server" {
            return Some(self.target.address().to_string().into_bytes());
        }
        let at = |number: &str| {
            number
                .parse()
                .ok()
                .and_then(|at: usize| self.clients.get(at))
        };
        if let Some(number) = text.strip_prefix("$client") {
            return Some(at(number)?.id.clone().into_bytes());
        }
        let line = at(text.strip_prefix("$address")?)?;
        Some(line.client.local().to_string().into_bytes())
    }

    /// A reply with names in place of addresses, and logs without times: what two servers can have in common.
    pub(super) fn readable(&self, value: Value) -> Value {
        let named = |text: Vec<u8>| self.named(text);
        let all = |parts: Vec<Value>| parts.into_iter().map(|part| self.readable(part)).collect();
        match value {
            Value::Simple(text) => Value::Simple(named(text)),
            Value::Bulk(text) => Value::Bulk(named(text)),
            Value::Verbatim(format, text) => Value::Verbatim(format, named(text)),
            Value::Array(parts) => Value::Array(all(texts::logged(parts))),
            Value::Push(parts) => Value::Push(all(parts)),
            other => other,
        }
    }

    fn named(&self, text: Vec<u8>) -> Vec<u8> {
        // Only what is readable is about clients; the rest stays as it is.
        let text = match String::from_utf8(text) {
            Ok(text) if text.contains("127.0.0.1:") => text,
            Ok(text) => return text.into_bytes(),
            Err(bytes) => return bytes.into_bytes(),
        };
        let mut text = text.replace(&self.target.address().to_string(), "(server)");
        let name =
            |text: String, at: usize, local: &str| text.replace(local, &format!("(client-{at})"));
        // Where somebody is now counts more than where somebody else has been.
        for (at, line) in self.clients.iter().enumerate() {
            text = name(text, at, &line.client.local().to_string());
        }
        for (at, line) in self.clients.iter().enumerate() {
            for local in &line.locals {
                text = name(text, at, local);
            }
        }
        text.into_bytes()
    }

    /// The clients that the server does not know any more, though nobody has told them.
    pub(super) fn killed(&mut self) -> Vec<usize> {
        let list = self.listed();
        let is_gone = |at: &usize| !list.contains(&self.clients[*at].address_field());
        (0..self.clients.len()).filter(is_gone).collect()
    }

    /// Lets time pass, more than a millisecond.
    pub(super) fn pass(&mut self, ms: u64) {
        self.target.advance(ms);
    }

    /// What CLIENT LIST says about one of the clients.
    pub(super) fn client_fields(&mut self, client: usize) -> Option<ListedClient> {
        self.all_fields().swap_remove(client)
    }

    /// What CLIENT LIST says about each of the clients.
    pub(super) fn all_fields(&mut self) -> Vec<Option<ListedClient>> {
        let list = self.listed();
        let fields = |line: &Line| {
            let address = line.address_field();
            let listed = list.lines().find(|listed| listed.contains(&address))?;
            Some(ListedClient {
                id: field(listed, "id").to_owned(),
                is_blocked: field(listed, "flags").contains('b'),
            })
        };
        self.clients.iter().map(fields).collect()
    }

    fn listed(&mut self) -> String {
        let list = self.control.ask(&["CLIENT", "LIST"]);
        String::from_utf8_lossy(list.as_ref().map_or(b"", Value::text)).into_owned()
    }

    /// Lets a client leave and another one come. Returns when the server knows.
    pub(super) fn leave(&mut self, client: usize, version: &str) {
        let address = self.clients[client].address_field();
        self.clients[client].reconnect(version);
        while self.listed().contains(&address) {}
    }

    /// The server's clock.
    pub(super) fn now_ms(&mut self) -> u64 {
        let Some(Value::Array(parts)) = self.control.ask(&["TIME"]) else {
            return 0;
        };
        let number = |part: &Value| String::from_utf8_lossy(part.text()).parse().unwrap_or(0);
        number(&parts[0]) * 1_000 + number(&parts[1]) / 1_000
    }

    /// Waits until all keys that are due are gone, though nobody touches them.
    pub(super) fn fade(&mut self) {
        self.control.ask(&["DEBUG", "SET-ACTIVE-EXPIRE", "1"]);
        for _ in 0..LOOKS_FOR_KEYS {
            self.pass(1);
            let info = self.control.ask(&["INFO", "keyspace"]);
            let info = String::from_utf8_lossy(info.as_ref().map_or(b"", Value::text)).into_owned();
            let has_due = |line: &str| line.starts_with("db") && !line.contains("expires=0,");
            if !info.lines().any(has_due) {
                break;
            }
        }
        self.control.ask(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
    }

    /// Whether the server has ended.
    pub(super) fn is_gone(&self) -> bool {
        std::net::TcpStream::connect(self.clients[0].address).is_err()
    }

    /// Unblocks a client if it is blocked.
    pub(super) fn unblock(&mut self, client: usize) {
        if let Some(listed) = self
            .client_fields(client)
            .filter(|listed| listed.is_blocked)
        {
            self.control.ask(&["CLIENT", "UNBLOCK", &listed.id]);
        }
    }
}

/// How a client is.
pub(super) struct ListedClient {
    pub(super) id: String,
    pub(super) is_blocked: bool,
}

impl Line {
    fn connect(address: SocketAddr, unseen: Option<SocketAddr>) -> Self {
        let mut client = Client::connect(address)
            .unwrap_or_else(|error| panic!("{address} accepts connections: {error}"));
        if let Some(unseen) = unseen {
            client.ignore(unseen);
        }
        let mut line = Self {
            address,
            locals: vec![client.local().to_string()],
            client,
            marks: 0,
            id: String::new(),
            unseen,
        };
        if let Some(Value::Integer(id)) = line.ask(&["CLIENT", "ID"]) {
            line.id = id.to_string();
        }
        line
    }

    /// Leaves, and comes again as somebody new.
    pub(super) fn reconnect(&mut self, version: &str) {
        let mut locals = mem::take(&mut self.locals);
        *self = Self::connect(self.address, self.unseen);
        self.ask(&["HELLO", version]);
        locals.append(&mut self.locals);
        self.locals = locals;
    }

    fn begin_reset(&mut self, version: &str) {
        let present = self.locals.split_off(self.locals.len() - 1);
        self.locals = present;
        self.marks = 0;
        let hello = format!("HELLO {version}");
        self.say_lines(&[
            "CLIENT REPLY ON",
            "RESET",
            "CLIENT SETINFO LIB-NAME ",
            "CLIENT SETINFO LIB-VER ",
            "CLIENT NO-TOUCH OFF",
            "CLIENT NO-EVICT OFF",
            "CLIENT IMPORT-SOURCE OFF",
            &hello,
        ]);
        self.mark();
    }

    fn end_reset(&mut self, version: &str) {
        if !matches!(self.until_mark(), Ending::Marked(_)) {
            self.reconnect(version);
        }
    }

    fn say_lines(&mut self, commands: &[&str]) {
        let commands: Vec<Vec<&str>> = commands
            .iter()
            .map(|command| command.split(' ').collect())
            .collect();
        self.client.say_all(&commands);
    }

    /// Says one command and waits for what it is answered; `None` if nothing came.
    pub(super) fn ask(&mut self, words: &[&str]) -> Option<Value> {
        self.client.say(words);
        match self.next(PATIENCE) {
            Some(Arrival::Reply(value)) => Some(value),
            _ => None,
        }
    }

    pub(super) fn say_all(&mut self, commands: &[Vec<Vec<u8>>]) {
        self.client.say_all(commands);
    }

    /// Says something whose answer shows where the answers to what was said before end.
    pub(super) fn mark(&mut self) {
        self.marks += 1;
        self.client.say(&["PING", &self.mark_text()]);
    }

    /// All that came before the mark.
    pub(super) fn until_mark(&mut self) -> Ending {
        let text = self.mark_text().into_bytes();
        let mut arrived = Vec::new();
        loop {
            match self.next(PATIENCE) {
                Some(Arrival::Reply(value)) if is_mark(&value, &text) => {
                    return Ending::Marked(arrived);
                }
                Some(Arrival::Reply(value)) => arrived.push(value),
                Some(Arrival::Closed) => return Ending::Closed(arrived),
                None => return Ending::Silent(arrived),
            }
        }
    }

    /// All that came before the end of the connection.
    pub(super) fn until_closed(&mut self) -> Ending {
        let mut arrived = Vec::new();
        loop {
            match self.next(PATIENCE) {
                Some(Arrival::Reply(value)) => arrived.push(value),
                Some(Arrival::Closed) => return Ending::Closed(arrived),
                None => return Ending::Silent(arrived),
            }
        }
    }

    /// The next thing that arrives within `wait`.
    pub(super) fn next(&mut self, wait: Duration) -> Option<Arrival> {
        loop {
            if let Some(arrival) = self.client.take() {
                return Some(arrival);
            }
            // A look that brought only a part of a reply is no reason to give up.
            if !self.client.poll(Some(wait)) && !self.client.is_within_reply() {
                return None;
            }
        }
    }

    /// Whether something has arrived, or does within `wait`; it can be taken later.
    pub(super) fn has_arrived(&mut self, wait: Duration) -> bool {
        self.client.poll(Some(wait))
    }

    /// Waits for the end of the connection, and whatever comes before it can be taken later.
    pub(super) fn has_ended(&mut self) {
        self.client.wait_for_end(PATIENCE);
    }

    /// The next thing that has arrived.
    pub(super) fn arrived(&mut self) -> Option<Arrival> {
        if let Some(arrival) = self.client.take() {
            return Some(arrival);
        }
        self.client.poll(None);
        self.client.take()
    }

    /// How CLIENT LIST names it.
    fn address_field(&self) -> String {
        format!(" addr={} ", self.client.local())
    }

    fn mark_text(&self) -> String {
        format!("(mark {})", self.marks)
    }
}

/// How a batch of replies ended.
pub(super) enum Ending {
    Marked(Vec<Value>),
    /// The server closed the connection.
    Closed(Vec<Value>),
    /// Nothing more came.
    Silent(Vec<Value>),
}

/// Subscribers of RESP2 get another answer to PING.
fn is_mark(value: &Value, text: &[u8]) -> bool {
    match value {
        Value::Bulk(found) => found == text,
        Value::Array(parts) => parts.len() == 2 && parts[1].text() == text,
        _ => false,
    }
}

fn field<'a>(listed: &'a str, name: &str) -> &'a str {
    listed
        .split(' ')
        .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
        .unwrap_or_default()
}

/// What the control connection is called.
pub(super) const CONTROL: &str = "control";

/// What makes a server as new. Keys that have expired are removed when they are met, so that it does not matter when.
const RESET: &[&str] = &[
    "CLIENT UNPAUSE",
    "FLUSHALL",
    "SCRIPT FLUSH SYNC",
    "DEBUG SET-ACTIVE-EXPIRE 0",
    "CONFIG SET stream-node-max-entries 100",
    "CONFIG SET stream-node-max-bytes 4096",
    "CONFIG SET notify-keyspace-events ",
    "CONFIG SET maxmemory 0",
    "CONFIG SET cluster-slot-stats-enabled yes",
    "CONFIG SET requirepass ",
    // No command takes so long, or is so large, that a busy host would log it.
    "CONFIG SET slowlog-log-slower-than 1000000000",
    "CONFIG SET slowlog-max-len 10000",
    "CONFIG SET commandlog-request-larger-than 1000000000",
    "CONFIG SET commandlog-large-request-max-len 10000",
    "CONFIG SET commandlog-reply-larger-than 1000000000",
    "CONFIG SET commandlog-large-reply-max-len 10000",
    "COMMANDLOG RESET slow",
    "COMMANDLOG RESET large-request",
    "COMMANDLOG RESET large-reply",
    "LATENCY RESET",
    "SCRIPT FLUSH",
];

/// Looks after which keys that are due are there to stay.
const LOOKS_FOR_KEYS: usize = 1_000;

/// How long a reply may take. A server that is silent for so long has lost it.
const PATIENCE: Duration = Duration::from_secs(5);
