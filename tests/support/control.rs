//! A connection of the player's own, through which it learns how the server's clients are.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::client::Arrival;
use crate::client::Client;
use crate::value::Value;

/// How long one look at a socket lasts; hosts do not measure it finer.
pub(crate) const LOOK: Duration = Duration::from_millis(4);

/// Looks after which silence of the control connection is taken to mean that the server holds everybody back.
pub(crate) const LOOKS_SILENT: usize = 60;

/// The connection. It may be held back like any other (CLIENT PAUSE, DEBUG SLEEP), so it may owe answers.
#[derive(Debug)]
pub(crate) struct Control {
    address: SocketAddr,
    client: Client,
    /// Questions that have not been answered yet.
    owed: usize,
}

impl Control {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            address,
            client: Client::connect(address)?,
            owed: 0,
        })
    }

    /// Asks and waits for the answer; `None` if the server is silent.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Option<Value> {
        self.begin(words);
        let looks = if self.owed > 1 { 5 } else { LOOKS_SILENT };
        for _ in 0..looks {
            if let Some(answer) = self.answer(Some(LOOK)) {
                return Some(answer);
            }
        }
        None
    }

    /// Asks without waiting.
    pub(crate) fn begin(&mut self, words: &[&str]) {
        self.client.say(words);
        self.owed += 1;
    }

    /// The answer to the latest question, if it is there. Answers to earlier ones are dropped.
    pub(crate) fn answer(&mut self, wait: Option<Duration>) -> Option<Value> {
        self.client.poll(wait);
        while let Some(arrival) = self.client.take() {
            match arrival {
                Arrival::Reply(value) => {
                    self.owed -= 1;
                    if self.owed == 0 {
                        return Some(value);
                    }
                }
                Arrival::Closed => {
                    // A story that kills all clients kills this one too.
                    self.client = Client::connect(self.address).ok()?;
                    self.owed = 0;
                    return None;
                }
            }
        }
        None
    }

    /// Whether a question that was asked stays without an answer for so many more looks.
    pub(crate) fn is_silent(&mut self, looks: usize) -> bool {
        (0..=looks).all(|_| self.answer(Some(LOOK)).is_none())
    }

    /// Gives the server time to send what it has to send, and to close what it has to close: three turns
    /// of its loop.
    pub(crate) fn settle(&mut self) {
        for _ in 0..3 {
            if self.ask(&["PING"]).is_none() {
                return;
            }
        }
    }

    /// The wall clock in microseconds; 0 if the server is silent.
    pub(crate) fn wall_micros(&mut self) -> i64 {
        let Some(Value::Array(parts)) = self.ask(&["TIME"]) else {
            return 0;
        };
        let number = |part: &Value| {
            let text = String::from_utf8_lossy(part.text()).into_owned();
            text.parse::<i64>().expect("TIME answers numbers")
        };
        number(&parts[0]) * 1_000_000 + number(&parts[1])
    }

    /// The addresses of all clients of the server.
    pub(crate) fn addresses(&mut self) -> BTreeSet<String> {
        let list = self.ask(&["CLIENT", "LIST"]);
        let list = String::from_utf8_lossy(list.as_ref().map_or(&[], Value::text)).into_owned();
        list.lines()
            .filter_map(|line| field(line, "addr"))
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.client.local()
    }
}

/// Whether CLIENT LIST, in `list`, says that the client at `address` is blocked.
pub(crate) fn is_blocked(list: &Value, address: SocketAddr) -> bool {
    let address = address.to_string();
    String::from_utf8_lossy(list.text())
        .lines()
        .find(|line| field(line, "addr") == Some(&address))
        .and_then(|line| field(line, "flags"))
        .is_some_and(|flags| flags.contains('b'))
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split(' ')
        .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}
