//! The call log: what clients asked, and what they heard.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use tailrace_protocol::OwnedRequest;

use super::rules::Filter;
use super::strict::NameCounts;
use super::subject::Subject;
use crate::client::ClientId;
use crate::spec::Spec;

/// The last calls, in the order in which they were answered.
#[derive(Default)]
pub(crate) struct CallLog {
    calls: VecDeque<CallEntry>,
    last_number: u64,
    bytes: usize,
    /// How often each command was asked for that there is not, by name.
    unsupported: NameCounts,
}

/// One call.
pub(crate) struct CallEntry {
    /// Counts up from 1.
    pub(crate) number: u64,
    /// What the wall showed when it was answered, in microseconds.
    pub(crate) at_us: u64,
    pub(crate) client: ClientId,
    pub(crate) client_name: Vec<u8>,
    /// The place of the node that it came to.
    pub(crate) node: usize,
    /// Nothing for a command that there is not.
    pub(crate) spec: Option<&'static Spec>,
    pub(crate) request: OwnedRequest,
    /// As it stood on the wire; at most [`REPLY_BYTES_MAX`] of it.
    pub(crate) reply: Vec<u8>,
    /// The fault that struck it.
    pub(crate) fault: Option<Vec<u8>>,
}

/// Which calls.
#[derive(Debug, Default)]
pub(crate) struct CallFilter {
    pub(crate) filter: Filter,
    /// Those with greater numbers only.
    pub(crate) since: u64,
    pub(crate) only_errors: bool,
    /// The last so many of them.
    pub(crate) limit: Option<usize>,
}

impl CallFilter {
    /// The calls that match, the oldest first.
    pub(crate) fn find<'a>(&self, log: &'a CallLog) -> Vec<&'a CallEntry> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let newest = log.iter().rev().filter(|entry| self.matches(entry));
        let mut found: Vec<_> = newest.take(limit).collect();
        found.reverse();
        found
    }

    fn matches(&self, entry: &CallEntry) -> bool {
        let is_of = |client: ClientId, wanted: &[u8]| {
            entry.client_name == wanted || client.number.to_string().as_bytes() == wanted
        };
        let is_right_client = self
            .filter
            .client
            .as_ref()
            .is_none_or(|wanted| is_of(entry.client, wanted));
        let subject = entry
            .spec
            .map(|spec| (spec, Subject::of(spec, entry.request.as_request())));
        let is_right_call = match &subject {
            Some((spec, subject)) => self.filter.matches_call(spec, subject),
            None => self.filter.is_any_call(),
        };
        entry.number > self.since
            && is_right_client
            && self.filter.node.is_none_or(|node| node == entry.node)
            && is_right_call
            && (!self.only_errors || entry.is_error())
    }
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

    /// A command was asked for that there is not.
    pub(crate) fn note_unsupported(&mut self, name: &[u8]) {
        self.unsupported.count(name);
    }

    /// The commands that were asked for and that there are not, and how often, since the server began.
    pub(crate) const fn unsupported(&self) -> &BTreeMap<Vec<u8>, u64> {
        self.unsupported.counts()
    }

    /// Forgets all calls, but not what is not supported; numbers go on.
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
