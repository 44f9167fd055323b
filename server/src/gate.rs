//! The gate that holds connections before their next command.
//!
//! `CLIENT PAUSE` and `DEBUG SLEEP` close it until an instant; whoever is held is woken when it
//! opens. Commands that already wait are not held: their deadlines fire all the same.

use tailrace_storage::Instant;

use crate::client::ClientId;

/// What a closed gate holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hold {
    /// Commands that write, or that replicas would have to hear of.
    Writes,
    /// Everything.
    All,
}

/// Until when commands are held, and who is.
#[derive(Debug, Default)]
pub struct Gate {
    writes_until: Option<Instant>,
    all_until: Option<Instant>,
    held: Vec<ClientId>,
}

impl Gate {
    /// Closes the gate until `until`. A later end of the same kind stays.
    pub fn close(&mut self, hold: Hold, until: Instant) {
        let slot = match hold {
            Hold::Writes => &mut self.writes_until,
            Hold::All => &mut self.all_until,
        };
        *slot = Some(slot.map_or(until, |old| old.max(until)));
    }

    /// Opens the gate at once. The held clients are to be woken.
    #[must_use = "the held clients are to be woken"]
    pub fn open(&mut self) -> Vec<ClientId> {
        self.writes_until = None;
        self.all_until = None;
        std::mem::take(&mut self.held)
    }

    /// What is held at `now`.
    pub fn holds(&self, now: Instant) -> Option<Hold> {
        let closed = |until: Option<Instant>| until.is_some_and(|until| until > now);
        if closed(self.all_until) {
            Some(Hold::All)
        } else if closed(self.writes_until) {
            Some(Hold::Writes)
        } else {
            None
        }
    }

    /// Whether the gate was closed and has not been opened, by time or otherwise.
    pub fn is_set(&self) -> bool {
        self.writes_until.is_some() || self.all_until.is_some()
    }

    /// When the gate next opens in part or whole.
    pub fn next_deadline(&self) -> Option<Instant> {
        [self.writes_until, self.all_until]
            .into_iter()
            .flatten()
            .min()
    }

    /// Remembers a client that found the gate closed.
    pub fn hold(&mut self, client: ClientId) {
        self.held.push(client);
    }

    /// Opens what is due, and gives the clients to be woken.
    pub fn on_time(&mut self, now: Instant) -> Vec<ClientId> {
        let mut opened = false;
        for slot in [&mut self.writes_until, &mut self.all_until] {
            opened |= slot.take_if(|until| *until <= now).is_some();
        }
        if opened {
            std::mem::take(&mut self.held)
        } else {
            Vec::new()
        }
    }
}
