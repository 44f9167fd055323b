//! Waiting until something holds.

use std::time::Duration;

use super::Answer;
use super::TestError;
use super::TestServer;
use super::clock::millis;
use crate::double::commands;
use crate::double::watch;

/// What is waited for. If it does not hold in time, the error says what is the case instead.
///
/// Patience is by the host's clock, or by tokio's for a server on the caller's runtime, and 5 s unless
/// [`Self::within`] says otherwise. With none at all it is looked at once.
#[must_use = "name what is waited for"]
pub struct Wait<'a> {
    server: &'a TestServer,
    db: usize,
    patience: Duration,
    asks_for_work: bool,
}

/// How a number is to be: a plain one is exactly that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Amount(&'static str, u64);

impl Amount {
    /// That many or more.
    pub fn at_least(number: u64) -> Self {
        Self(">=", number)
    }

    /// That many or fewer.
    pub fn at_most(number: u64) -> Self {
        Self("<=", number)
    }
}

impl From<u64> for Amount {
    fn from(number: u64) -> Self {
        Self("=", number)
    }
}

impl<'a> Wait<'a> {
    pub(super) fn new(server: &'a TestServer) -> Self {
        Self {
            server,
            db: 0,
            patience: Duration::from_secs(5),
            asks_for_work: false,
        }
    }

    /// Has so much patience.
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Insists that it holds already.
    pub fn now(self) -> Self {
        self.within(Duration::ZERO)
    }

    /// Looks into this database, and not into that of number 0.
    pub fn db(mut self, number: usize) -> Self {
        self.db = number;
        self
    }

    /// Asks of promises that the work of each entry was [noted](super::Ledger::worked) before it was acknowledged.
    pub fn worked(mut self) -> Self {
        self.asks_for_work = true;
        self
    }

    /// Until so many clients wait for something themselves.
    pub fn blocked(self, clients: impl Into<Amount>) -> Answer<()> {
        self.until(&words("BLOCKED", &[], Some(clients.into())))
    }

    /// Until so many clients wait as readers of a group.
    pub fn blocked_in(self, group: &str, clients: impl Into<Amount>) -> Answer<()> {
        let mut words = words("BLOCKED", &[], Some(clients.into()));
        words.extend([b"GROUP".to_vec(), group.into()]);
        self.until(&words)
    }

    /// Until so many clients wait for a key.
    pub fn blocked_on(self, key: &str, clients: impl Into<Amount>) -> Answer<()> {
        let mut words = words("BLOCKED", &[], Some(clients.into()));
        words.extend([b"KEY".to_vec(), key.into()]);
        self.until(&words)
    }

    /// Until a group has read all and acknowledged all.
    pub fn drained(self, stream: &str, group: &str) -> Answer<()> {
        self.until(&words("DRAINED", &[stream, group], None))
    }

    /// Until so many entries are pending.
    pub fn pending(self, stream: &str, group: &str, entries: impl Into<Amount>) -> Answer<()> {
        self.until(&words("PENDING", &[stream, group], Some(entries.into())))
    }

    /// Until so many entries are still to be read.
    pub fn lag(self, stream: &str, group: &str, entries: impl Into<Amount>) -> Answer<()> {
        self.until(&words("LAG", &[stream, group], Some(entries.into())))
    }

    /// Until a stream has so many entries.
    pub fn len(self, stream: &str, entries: impl Into<Amount>) -> Answer<()> {
        self.until(&words("LEN", &[stream], Some(entries.into())))
    }

    /// Until an entry of a stream has this field with this value.
    pub fn entry(self, stream: &str, field: &str, value: &str) -> Answer<()> {
        self.until(&words("ENTRY", &[stream, field, value], None))
    }

    /// Until so many clients are connected.
    pub fn clients(self, clients: impl Into<Amount>) -> Answer<()> {
        self.until(&words("CLIENTS", &[], Some(clients.into())))
    }

    /// Until so many clients listen to a channel.
    pub fn subscribed(self, channel: &str, clients: impl Into<Amount>) -> Answer<()> {
        self.until(&words("SUBSCRIBED", &[channel], Some(clients.into())))
    }

    /// Until so many calls of a command were answered.
    pub fn called(self, command: &str, calls: impl Into<Amount>) -> Answer<()> {
        let mut words = words("CALLS", &[], Some(calls.into()));
        words.extend([b"CMD".to_vec(), command.into()]);
        self.until(&words)
    }

    /// Until the fault of this name keeps back so much.
    pub fn held(self, fault: &str, calls: impl Into<Amount>) -> Answer<()> {
        self.until(&words("HELD", &[fault], Some(calls.into())))
    }

    /// Until each entry was delivered, and acknowledged since by somebody it was delivered to; by the
    /// [ledger](TestServer::ledger).
    pub fn at_least_once(self, stream: &str, group: &str) -> Answer<()> {
        self.until_kept("AT-LEAST-ONCE", stream, group)
    }

    /// Until each entry was delivered once, and acknowledged likewise; by the ledger.
    pub fn exactly_once(self, stream: &str, group: &str) -> Answer<()> {
        self.until_kept("EXACTLY-ONCE", stream, group)
    }

    /// As long as no entry was trimmed or deleted before it was delivered; by the ledger.
    pub fn no_loss(self, stream: &str, group: &str) -> Answer<()> {
        self.until(&words("NO-LOSS", &[stream, group], None))
    }

    /// Until no entry is pending, none left without being acknowledged, and nobody acknowledged what was not delivered
    /// to it; by the ledger.
    pub fn no_leak(self, stream: &str, group: &str) -> Answer<()> {
        self.until(&words("NO-LEAK", &[stream, group], None))
    }

    /// Until nothing is left to do: no command is kept back, and none waits for its turn.
    pub fn idle(self) -> Answer<()> {
        self.until(&words("IDLE", &[], None))
    }

    fn until_kept(self, promise: &str, stream: &str, group: &str) -> Answer<()> {
        let mut words = words(promise, &[stream, group], None);
        if self.asks_for_work {
            words.push(b"WORKED".to_vec());
        }
        self.until(&words)
    }

    fn until(self, words: &[Vec<u8>]) -> Answer<()> {
        let condition = commands::read_condition(words).map_err(TestError::Not);
        let patience = millis(self.patience);
        let coming = condition.map(|condition| {
            watch::wait_from_outside(&self.server.stage, condition, self.db, patience)
        });
        Answer::new(coming, |_| (), self.server.life.is_here())
    }
}

/// A condition as it is written in `TESTDOUBLE WAIT`.
fn words(what: &str, names: &[&str], amount: Option<Amount>) -> Vec<Vec<u8>> {
    let mut words = vec![what.into()];
    words.extend(names.iter().map(|name| name.as_bytes().to_vec()));
    if let Some(Amount(order, number)) = amount {
        words.extend([order.into(), number.to_string().into()]);
    }
    words
}
