//! One of the two servers, and the clients that talk to it.

use std::net::SocketAddr;
use std::time::Duration;

use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::Target;
use tailrace_tests::Value;

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
}

impl Side {
    /// Connects so many clients, which speak RESP `version`.
    pub(super) fn new(
        target: Box<dyn Target + Send>,
        version: &'static str,
        clients: usize,
    ) -> Self {
        let address = target.address();
        let mut side = Self {
            control: Line::connect(address),
            clients: (0..clients).map(|_| Line::connect(address)).collect(),
            target,
            version,
        };
        side.control.ask(&["HELLO", version]);
        side.control.ask(&["CLIENT", "SETNAME", "control"]);
        // Keys that have expired are removed when they are met, so that it does not matter when.
        side.control.ask(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
        side
    }

    /// Empties the server and makes its clients as new.
    pub(super) fn reset(&mut self) {
        self.control.ask(&["FLUSHALL"]);
        let (name, value) = ("stream-node-max-entries", "100");
        self.control.ask(&[
            "CONFIG",
            "SET",
            name,
            value,
            "stream-node-max-bytes",
            "4096",
        ]);
        for line in &mut self.clients {
            line.reset(self.version);
        }
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
    fn connect(address: SocketAddr) -> Self {
        Self {
            address,
            client: Client::connect(address).expect("the server accepts connections"),
            marks: 0,
        }
    }

    /// Leaves, and comes again as somebody new.
    pub(super) fn reconnect(&mut self, version: &str) {
        *self = Self::connect(self.address);
        self.ask(&["HELLO", version]);
    }

    fn reset(&mut self, version: &str) {
        let commands = [
            "CLIENT REPLY ON",
            "RESET",
            "CLIENT SETINFO LIB-NAME ",
            "CLIENT SETINFO LIB-VER ",
            "CLIENT NO-TOUCH OFF",
            "CLIENT NO-EVICT OFF",
        ];
        let mut commands: Vec<Vec<&str>> = commands
            .iter()
            .map(|command| command.split(' ').collect())
            .collect();
        commands.push(vec!["HELLO", version]);
        self.client.say_all(&commands);
        self.mark();
        if !matches!(self.until_mark(), Ending::Marked(_)) {
            self.reconnect(version);
        }
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

/// How long a reply may take. A server that is silent for so long has lost it.
const PATIENCE: Duration = Duration::from_secs(5);
