//! A client that behaves, and knows what it must hear.

use std::time::Duration;

use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::Value;

use super::host::Host;

/// One that works with a stream and a group of its own.
pub(super) struct Neighbour {
    client: Client,
    rounds: u64,
}

impl Neighbour {
    /// One that has no stream yet.
    pub(super) fn of_nothing(host: &Host) -> Self {
        Self {
            client: Client::connect(host.address()).unwrap(),
            rounds: 0,
        }
    }

    pub(super) fn of(host: &Host) -> Self {
        let mut neighbour = Self::of_nothing(host);
        neighbour.hears("XGROUP CREATE own g $ MKSTREAM", "OK");
        neighbour
    }

    /// Works for some rounds: each adds an entry, takes it and acknowledges it.
    ///
    /// # Panics
    ///
    /// If a reply is not what it must be, or does not come.
    pub(super) fn works(&mut self, rounds: u64) {
        for _ in 0..rounds {
            self.rounds += 1;
            let number = self.rounds;
            let id = format!("{number}-1");
            self.hears(&format!("XADD own {id} n {number}"), &format!("\"{id}\""));
            self.hears(
                "XREADGROUP GROUP g c COUNT 10 STREAMS own >",
                &format!(r#"[["own" [["{id}" ["n" "{number}"]]]]]"#),
            );
            self.hears(&format!("XACK own g {id}"), "1");
            self.hears("XLEN own", &number.to_string());
        }
        self.hears("XPENDING own g", "[0 nil nil nil-array]");
    }

    /// Sends a command and expects this reply, written as in transcripts.
    pub(super) fn hears(&mut self, command: &str, reply: &str) {
        let words: Vec<&str> = command.split(' ').collect();
        self.client.say(&words);
        assert_eq!(self.listens(), reply);
    }

    /// Sends a command, and gives the reply as transcripts write it.
    pub(super) fn asks<W: AsRef<[u8]>>(&mut self, words: &[W]) -> String {
        self.client.say(words);
        self.listens()
    }

    /// Waits for a message of a channel.
    pub(super) fn hears_message(&mut self) -> String {
        match self.next() {
            Value::Array(parts) if parts.len() == 3 => {
                String::from_utf8_lossy(parts[2].text()).into_owned()
            }
            other => panic!("{other} is no message"),
        }
    }

    fn listens(&mut self) -> String {
        self.next().to_string()
    }

    fn next(&mut self) -> Value {
        while self.client.poll(Some(PATIENCE)) || self.client.is_within_reply() {
            match self.client.take() {
                Some(Arrival::Reply(value)) => return value,
                Some(Arrival::Closed) => panic!("the server closed the connection"),
                // A long one comes in pieces.
                None => {}
            }
        }
        panic!("no reply came");
    }

    /// A field of INFO.
    pub(super) fn reads_info(&mut self, field: &str) -> u64 {
        self.client.say(&["INFO"]);
        let info = String::from_utf8_lossy(self.next().text()).into_owned();
        let mut values = info
            .lines()
            .filter_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        values.next().unwrap().parse().unwrap()
    }

    /// Looks at INFO until a field is at least so much.
    pub(super) fn sees_in_info(&mut self, field: &str, least: u64) {
        self.looks(field, &|value| value >= least);
    }

    /// Looks at INFO until a field is at most so much.
    pub(super) fn sees_in_info_at_most(&mut self, field: &str, most: u64) {
        self.looks(field, &|value| value <= most);
    }

    fn looks(&mut self, field: &str, is_enough: &dyn Fn(u64) -> bool) {
        for _ in 0..LOOKS_MAX {
            if is_enough(self.reads_info(field)) {
                return;
            }
            std::thread::yield_now();
        }
        panic!("{field} is {} still", self.reads_info(field));
    }
}

/// Far longer than a reply takes, even on a machine that has other things to do.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
const LOOKS_MAX: u32 = 1_000_000;
