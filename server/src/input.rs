//! What a client may send, and how much of it is executed in one go.

use tailrace_protocol::BatchBounds;
use tailrace_protocol::Limits;
use tailrace_storage::Compat;

use crate::client::ClientId;
use crate::state::State;

/// What a client may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputLimits {
    pub(crate) authenticated: bool,
    pub(crate) bulk_bytes_max: usize,
    quotes_end_words: bool,
}

impl InputLimits {
    pub(crate) fn of(state: &mut State, id: ClientId) -> Self {
        let settings = state.config.settings();
        Self {
            bulk_bytes_max: settings.proto_max_bulk_len,
            quotes_end_words: settings.compat == Compat::Redis,
            authenticated: state.clients.at(id).authenticated,
        }
    }

    /// What its decoder takes.
    pub(crate) fn decoder(self) -> Limits {
        let limits = if self.authenticated {
            Limits::authenticated(self.bulk_bytes_max)
        } else {
            Limits::unauthenticated(self.bulk_bytes_max)
        };
        Limits {
            quotes_end_words: self.quotes_end_words,
            ..limits
        }
    }

    /// When a batch ends, so that others get their turn.
    pub(crate) fn batch(self) -> BatchBounds {
        BATCH
    }
}

/// The read buffer of a thread, in bytes.
pub(crate) const READ_BYTES: usize = 64 * 1_024;

const BATCH: BatchBounds = BatchBounds {
    commands_max: 128,
    bytes_max: READ_BYTES,
};
