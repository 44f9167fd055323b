//! The gate that holds commands back.
//!
//! `CLIENT PAUSE` and `DEBUG SLEEP` close it until an instant, MIGRATE until its keys have arrived. A command that finds it closed is kept here, and its
//! client waits as if the command blocked. When the gate opens they run in the order in which they
//! came, before anything that comes later. Commands that already wait are not held: their deadlines
//! fire all the same. Keys do not expire while the gate is closed; those that are due read as missing.

use std::collections::VecDeque;

use tailrace_protocol::OwnedRequest;
use tailrace_storage::Instant;

use crate::client::ClientId;

/// What a closed gate holds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Hold {
    /// Commands that write, or that replicas would have to hear of.
    Writes,
    /// Everything.
    All,
}

/// A command that found the gate closed.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) client: ClientId,
    pub(crate) request: OwnedRequest,
    pub(crate) request_bytes: usize,
}

/// Until when commands are held, and which.
#[derive(Debug, Default)]
pub struct Gate {
    /// What `CLIENT PAUSE` holds, and until when.
    closed: Option<(Hold, Instant)>,
    /// Until when `DEBUG SLEEP` holds everything.
    asleep_until: Option<Instant>,
    /// Whether keys are on their way to another server, which holds everything.
    is_busy: bool,
    held: VecDeque<Held>,
    /// How many of `held`, from the front, are to be given again.
    released: usize,
}

impl Gate {
    /// Closes the gate until `until`. If it is closed already, the later end counts, and what holds
    /// more.
    pub fn close(&mut self, hold: Hold, until: Instant) {
        self.closed = Some(match self.closed {
            Some((old_hold, old_until)) => (hold.max(old_hold), until.max(old_until)),
            None => (hold, until),
        });
    }

    /// Closes the gate for everything until `until`, whatever else opens or closes it meanwhile.
    pub fn sleep(&mut self, until: Instant) {
        self.asleep_until = self.asleep_until.max(Some(until));
    }

    /// Closes the gate for everything until this is called again with `false`, whatever else opens or closes it.
    pub(crate) fn set_busy(&mut self, is_busy: bool) {
        self.is_busy = is_busy;
        if !is_busy {
            self.release();
        }
    }

    /// Ends what [`Self::close`] began.
    pub fn open(&mut self) {
        self.closed = None;
        self.release();
    }

    /// Opens the gate if its time has come.
    pub fn on_time(&mut self, now: Instant) {
        if self.closed.is_some_and(|(_, until)| until <= now) {
            self.open();
        }
        if self.asleep_until.is_some_and(|until| until <= now) {
            self.asleep_until = None;
            self.release();
        }
    }

    /// What is held.
    pub fn holds(&self) -> Option<Hold> {
        if self.is_busy || self.asleep_until.is_some() {
            return Some(Hold::All);
        }
        self.closed.map(|(hold, _)| hold)
    }

    /// When the gate next opens by itself, at least for some.
    pub fn deadline(&self) -> Option<Instant> {
        let closed_until = self.closed.map(|(_, until)| until);
        [closed_until, self.asleep_until]
            .into_iter()
            .flatten()
            .min()
    }

    /// How many commands are held.
    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    /// Keeps a command that found the gate closed.
    pub(crate) fn hold(&mut self, client: ClientId, request: OwnedRequest, request_bytes: usize) {
        self.held.push_back(Held {
            client,
            request,
            request_bytes,
        });
    }

    /// The next command that the gate was opened for; it may find it closed again.
    pub(crate) fn take_released(&mut self) -> Option<Held> {
        self.released = self.released.checked_sub(1)?;
        self.held.pop_front()
    }

    /// Opens it for good, and gives the commands that it held, which are not to be executed any more.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Held> + use<> {
        self.closed = None;
        self.asleep_until = None;
        self.released = 0;
        std::mem::take(&mut self.held).into_iter()
    }

    fn release(&mut self) {
        self.released = self.held.len();
    }

    /// Drops the command of a client that has left.
    pub(crate) fn forget(&mut self, client: ClientId) {
        if let Some(at) = self.held.iter().position(|held| held.client == client) {
            self.held.remove(at);
            self.released -= usize::from(at < self.released);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_in_a_pause_never_ends_or_weakens_it() {
        let mut gate = Gate::default();
        gate.close(Hold::Writes, Instant(10));
        gate.close(Hold::All, Instant(1));
        gate.close(Hold::Writes, Instant(2));
        gate.on_time(Instant(9));
        assert_eq!(gate.holds(), Some(Hold::All));
        gate.on_time(Instant(10));
        assert_eq!(gate.holds(), None);
    }

    #[test]
    fn a_sleep_leaves_a_pause_as_it_is() {
        let mut gate = Gate::default();
        gate.close(Hold::Writes, Instant(10));
        gate.sleep(Instant(5));
        assert_eq!(gate.holds(), Some(Hold::All));
        assert_eq!(gate.deadline(), Some(Instant(5)));
        gate.on_time(Instant(5));
        assert_eq!(gate.holds(), Some(Hold::Writes));
        assert_eq!(gate.deadline(), Some(Instant(10)));
    }
}
