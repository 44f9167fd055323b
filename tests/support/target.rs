//! What a transcript needs of a server that it is played to.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// A running server.
pub trait Target {
    /// Where it listens.
    fn address(&self) -> SocketAddr;

    /// Whether it is the reference, whose word is law; it skips what only Tailrace does.
    fn is_reference(&self) -> bool;

    /// Whether its clock stands still until it is moved.
    fn has_manual_clock(&self) -> bool;

    /// How far a number that depends on the clock may be off: nothing when the clock is moved by hand.
    fn tolerance_ms(&self) -> i64;

    /// Sets the wall clock.
    ///
    /// # Errors
    ///
    /// In words, if the clock is not one that can be set.
    fn set_clock(&mut self, unix_ms: u64) -> Result<(), String>;

    /// Lets time pass. What falls due meanwhile happens before this returns, or soon after.
    fn advance(&mut self, ms: u64);
}

/// Lets time pass for a server that goes by the clock of its host.
#[expect(
    clippy::disallowed_methods,
    reason = "a server with a clock of its own leaves no other way to let time pass"
)]
pub(crate) fn really_wait(ms: u64) {
    thread::sleep(Duration::from_millis(ms + 2));
}

/// What a busy machine may add between two steps of a story.
pub(crate) const TOLERANCE_MS: i64 = 1_500;
