//! The call log: what clients asked, and what they heard.

use std::collections::VecDeque;

use tailrace_protocol::OwnedRequest;

use crate::client::ClientId;
use crate::spec::Spec;

/// The last calls, in the order in which they were answered.
#[derive(Default)]
pub(crate) struct CallLog {
    calls: VecDeque<CallEntry>,
    last_number: u64,
    bytes: usize,
}

/// One call.
pub(crate) struct CallEntry {
    /// Counts up from 1.
    pub(crate) number: u64,
    /// What the wall showed when it was answered, in microseconds.
    pub(crate) at_us: u64,
    pub(crate) client: ClientId,
    pub(crate) client_name: Vec<u8>,
    /// Nothing for a command that there is not.
    pub(crate) spec: Option<&'static Spec>,
    pub(crate) request: OwnedRequest,
    /// As it stood on the wire; at most [`REPLY_BYTES_MAX`] of it.
    pub(crate) reply: Vec<u8>,
    /// The fault that struck it.
    pub(crate) fault: Option<Vec<u8>>,
}

impl CallLog {
    /// Adds a call, and forgets the oldest where there is no room.
    pub(crate) fn add(&mut self, mut entry: CallEntry) {
        entry.reply.truncate(REPLY_BYTES_MAX);
        self.last_number += 1;
        entry.number = self.last_number;
        self.bytes += entry.bytes();
        self.calls.push_back(entry);
        while self.bytes > LOG_BYTES_MAX
            && let Some(oldest) = self.calls.pop_front()
        {
            self.bytes -= oldest.bytes();
        }
    }

    /// The calls, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &CallEntry> {
        self.calls.iter()
    }

    /// Forgets all calls; numbers go on.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.bytes = 0;
    }
}

impl CallEntry {
    /// Whether the reply is an error.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.reply.first(), Some(b'-' | b'!'))
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.request.as_request().byte_len() + self.reply.len()
    }
}

/// How much of a reply is kept.
const REPLY_BYTES_MAX: usize = 64 * 1_024;
/// How much the log may take.
const LOG_BYTES_MAX: usize = 32 * 1_024 * 1_024;
