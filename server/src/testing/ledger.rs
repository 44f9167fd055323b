//! What becomes of entries, which the server notes for a test.

use super::TestServer;

/// The ledger of deliveries: who got each entry of a group when, who acknowledged it, how it left.
///
/// Once it is [on](Self::on), [`Wait`](super::Wait) has promises to hold workers to, as
/// [`at_least_once`](super::Wait::at_least_once).
#[derive(Clone, Copy)]
pub struct Ledger<'a>(pub(super) &'a TestServer);

impl Ledger<'_> {
    /// Begins it, anew, for all streams.
    pub fn on(self) {
        self.0
            .stage
            .act_on_all(|state, _| state.store.start_ledger());
    }

    /// Ends it.
    pub fn off(self) {
        self.0
            .stage
            .act_on_all(|state, _| state.store.stop_ledger());
    }
}
