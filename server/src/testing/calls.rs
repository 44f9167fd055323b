//! The call log: what clients asked, and what they heard.

use std::collections::BTreeMap;

use super::TestError;
use super::TestServer;
use super::filter::filters;
use crate::double::calls::CallEntry;
use crate::double::calls::CallFilter;
use crate::double::commands;

/// Calls that are looked for: all that match everything that was said. A call is known once it is answered, also if
/// the answer was lost.
#[must_use = "list() or count() looks for them"]
pub struct Calls<'a> {
    server: &'a TestServer,
    words: Vec<Vec<u8>>,
}

/// One call.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CallRecord {
    /// Counts up from 1.
    pub number: u64,
    /// When it was answered, in milliseconds since 1970 by the server's clock.
    pub at_ms: u64,
    /// The number of the client, as `CLIENT ID` says it.
    pub client: u64,
    /// The name that the client gave itself.
    pub client_name: Vec<u8>,
    /// The command and its arguments.
    pub call: Vec<Vec<u8>>,
    /// What the client heard, as it stood on the wire.
    pub reply: Vec<u8>,
    /// The fault that struck it.
    pub fault: Option<Vec<u8>>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(server: &'a TestServer) -> Self {
        Self {
            server,
            words: Vec::new(),
        }
    }

    filters!();

    /// Those behind the call of this number.
    pub fn since(self, number: u64) -> Self {
        self.with("SINCE", number.to_string())
    }

    /// Those that were answered with an error.
    pub fn errors(mut self) -> Self {
        self.words.push(b"ERRORS".to_vec());
        self
    }

    /// All that match, the oldest first.
    ///
    /// # Errors
    ///
    /// If there is no such category.
    pub fn list(self) -> Result<Vec<CallRecord>, TestError> {
        self.find(|found| found.iter().map(CallRecord::of).collect())
    }

    /// How many match.
    ///
    /// # Errors
    ///
    /// As [`Self::list`].
    pub fn count(self) -> Result<usize, TestError> {
        self.find(|found| found.len())
    }

    /// The commands that clients asked for and that there are not, in lower case, with how often they did.
    pub fn unsupported(self) -> BTreeMap<Vec<u8>, u64> {
        self.server.stage.calls.lock().unsupported().clone()
    }

    /// Forgets all calls, whichever were looked for.
    pub fn clear(self) {
        self.server.stage.settle_calls();
        self.server.stage.calls.lock().clear();
    }

    fn find<T>(self, read: impl FnOnce(&[CallEntry<'_>]) -> T) -> Result<T, TestError> {
        let filter: CallFilter = commands::read_calls(&self.words).map_err(TestError::Not)?;
        self.server.stage.settle_calls();
        let log = self.server.stage.calls.lock();
        Ok(read(&filter.find(&log)))
    }
}

impl CallRecord {
    fn of(entry: &CallEntry<'_>) -> Self {
        let request = entry.request();
        let request = request.as_request();
        Self {
            number: entry.number,
            at_ms: entry.at_us / 1_000,
            client: entry.client.number,
            client_name: entry.client_name.to_vec(),
            call: request.iter().map(<[u8]>::to_vec).collect(),
            reply: entry.reply.to_vec(),
            fault: entry.fault.map(<[u8]>::to_vec),
        }
    }
}
