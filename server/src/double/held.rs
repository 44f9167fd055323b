//! What a fault keeps back: commands before they are executed, and replies before they leave.
//!
//! The client waits meanwhile, as one whose command the gate holds: what it sends behind is kept, and
//! executed when it goes on.

use std::collections::HashSet;

use tailrace_protocol::OwnedRequest;
use tailrace_storage::Instant;
use tailrace_storage::Millis;

use crate::client::ClientId;

/// Everything that is kept back, in the order in which it came.
#[derive(Default)]
pub(crate) struct HeldBack {
    held: Vec<Held>,
    /// Clients whose next command was kept back once, and is not looked at again.
    passed: HashSet<ClientId>,
}

/// Something that is kept back.
pub(crate) struct Held {
    pub(crate) client: ClientId,
    /// The fault that does it.
    pub(crate) rule: Vec<u8>,
    /// Until when; nothing is until it is released.
    pub(crate) until: Option<Instant>,
    pub(crate) what: What,
}

/// In place of the name of a fault: the whole server is stopped. No fault is called so.
pub(crate) const PAUSED: &[u8] = b"";

/// What is kept back.
pub(crate) enum What {
    /// A command that has not been executed, and how many bytes it was sent in.
    Command(OwnedRequest, usize),
    /// Likewise, and no fault has looked at it either.
    Unseen(OwnedRequest, usize),
    /// A reply.
    Reply(Vec<u8>),
    /// A reply of which some bytes leave at a time.
    Drip {
        bytes: Vec<u8>,
        at_once: usize,
        every: Millis,
    },
}

impl HeldBack {
    /// Keeps something back.
    pub(crate) fn add(&mut self, held: Held) {
        self.held.push(held);
    }

    /// When something next goes on by itself.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.held.iter().filter_map(|held| held.until).min()
    }

    /// How much goes on by itself.
    pub(crate) fn deadline_count(&self) -> usize {
        self.held.iter().filter(|held| held.until.is_some()).count()
    }

    /// Takes what is due first, if it is due by `now`.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Held> {
        let due = self
            .held
            .iter()
            .enumerate()
            .filter_map(|(at, held)| Some((held.until?, at)));
        let (until, at) = due.min()?;
        (until <= now).then(|| self.held.remove(at))
    }

    /// Takes what the fault of this name keeps back, the first that came; all if no name is given.
    pub(crate) fn take_of(&mut self, rule: &[u8]) -> Option<Held> {
        let at = self.held.iter().position(|held| held.rule == rule)?;
        Some(self.held.remove(at))
    }

    /// Takes all that is kept back.
    pub(crate) fn take_all(&mut self) -> Vec<Held> {
        std::mem::take(&mut self.held)
    }

    /// How much the fault of this name keeps back.
    pub(crate) fn count_of(&self, rule: &[u8]) -> usize {
        self.held.iter().filter(|held| held.rule == rule).count()
    }

    /// How much is kept back.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// A client has left, and what was its own with it.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.held.retain(|held| held.client != client);
        self.passed.remove(&client);
    }

    /// The next command of a client is to be executed without being looked at.
    pub(crate) fn let_pass(&mut self, client: ClientId) {
        self.passed.insert(client);
    }

    /// Whether some client's next command was kept back already.
    pub(crate) fn lets_any_pass(&self) -> bool {
        !self.passed.is_empty()
    }

    /// Whether the command of a client was kept back already.
    pub(crate) fn passes(&mut self, client: ClientId) -> bool {
        self.passed.remove(&client)
    }
}
