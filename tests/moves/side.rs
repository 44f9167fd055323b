//! A server and a client of it.

use std::net::SocketAddr;
use std::time::Duration;

use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::Value;

/// A server, as a client of it sees it.
pub(super) struct Side {
    pub(super) client: Client,
}

impl Side {
    pub(super) fn new(address: SocketAddr) -> Self {
        let client = Client::connect(address).unwrap();
        Self { client }
    }

    /// Says a command and returns the reply.
    pub(super) fn ask<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Value {
        self.client.say(words);
        self.reply()
    }

    /// Says a command of one line.
    pub(super) fn say(&mut self, line: &str) -> Value {
        let words: Vec<&str> = line.split(' ').collect();
        self.ask(&words)
    }

    /// Waits for a reply.
    pub(super) fn reply(&mut self) -> Value {
        assert!(self.client.poll(Some(PATIENCE)), "a reply comes in time");
        match self.client.take() {
            Some(Arrival::Reply(reply)) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }
}

/// How long a reply may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
