//! The call log: what clients asked, and what they heard.
//!
//! An engine notes calls in a [`FreshCalls`] of its own, for which it needs no other lock, and adds them to the log
//! when somebody asks for them or when they are many. Where others may ask, it does so whenever its own lock is released.

mod piece;

use std::collections::BTreeMap;
use std::collections::VecDeque;

use tailrace_protocol::OwnedRequest;

use self::piece::PIECE_BYTES;
use self::piece::Piece;
pub(crate) use self::piece::Said;
use super::rules::Filter;
use super::strict::NameCounts;
use super::subject::Subject;
use crate::client::Client;
use crate::client::ClientId;
use crate::spec::Spec;

/// The last calls, in the order in which they were answered.
#[derive(Default)]
pub(crate) struct CallLog {
    /// The oldest first. Others are added to the last one.
    pieces: VecDeque<Piece>,
    last_number: u64,
    /// How much they take.
    bytes: usize,
    /// The memory of the piece that was forgotten last.
    spare: Option<Piece>,
    /// How often each command was asked for that there is not, by name.
    unsupported: NameCounts,
}

/// Calls that one engine has answered and that are not in the log yet.
#[derive(Default)]
pub(crate) struct FreshCalls(Piece);

/// One call.
#[derive(Clone, Copy)]
pub(crate) struct CallEntry<'a> {
    /// Counts up from 1.
    pub(crate) number: u64,
    /// What the wall showed when it was answered, in microseconds.
    pub(crate) at_us: u64,
    pub(crate) client: ClientId,
    pub(crate) client_name: &'a [u8],
    /// The place of the node that it came to.
    pub(crate) node: usize,
    /// Nothing for a command that there is not.
    pub(crate) spec: Option<&'static Spec>,
    /// As it stood on the wire.
    frame: &'a [u8],
    /// Likewise; at most [`REPLY_BYTES_MAX`] of it.
    pub(crate) reply: &'a [u8],
    /// The fault that struck it.
    pub(crate) fault: Option<&'a [u8]>,
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
    pub(crate) fn find<'a>(&self, log: &'a CallLog) -> Vec<CallEntry<'a>> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let newest = log.newest_first();
        let newest = newest.take_while(|entry| entry.number > self.since);
        let newest = newest.filter(|entry| self.matches(entry));
        let mut found: Vec<_> = newest.take(limit).collect();
        found.reverse();
        found
    }

    fn matches(&self, entry: &CallEntry<'_>) -> bool {
        let is_of = |client: ClientId, wanted: &[u8]| {
            entry.client_name == wanted || client.number.to_string().as_bytes() == wanted
        };
        let filter = &self.filter;
        let is_right_client = filter.client.as_ref();
        is_right_client.is_none_or(|wanted| is_of(entry.client, wanted))
            && filter.node.is_none_or(|node| node == entry.node)
            && (!self.only_errors || entry.is_error())
            && self.is_right_call(entry)
    }

    fn is_right_call(&self, entry: &CallEntry<'_>) -> bool {
        let Some(spec) = entry.spec else {
            // Of a command that there is not only the name is known.
            let name = entry.request();
            let name = name.as_request().get(0).unwrap_or_default();
            return !self.filter.is_about_something() && self.filter.is_called_as(name);
        };
        // What it was about is read only if that matters.
        self.filter.is_called(spec)
            && (!self.filter.is_about_something() || {
                let request = entry.request();
                let subject = Subject::of(spec, request.as_request());
                self.filter.matches_call(spec, &subject)
            })
    }
}

impl CallLog {
    /// Adds calls.
    pub(crate) fn add(&mut self, fresh: &mut FreshCalls) {
        let added = fresh.0.used_bytes();
        self.bytes += added;
        self.last_number += fresh.0.len() as u64;
        match self.pieces.back_mut() {
            Some(last) if last.used_bytes() + added < PIECE_BYTES => last.absorb(&mut fresh.0),
            _ => {
                self.make_room();
                let next = match added < PIECE_BYTES {
                    true => Piece::default(),
                    // There will be as many again.
                    false => self.spare.take().unwrap_or_else(Piece::with_room),
                };
                self.pieces.push_back(std::mem::replace(&mut fresh.0, next));
            }
        }
    }

    /// Forgets the oldest calls where there is no room.
    fn make_room(&mut self) {
        while self.bytes > LOG_BYTES_MAX
            && let Some(mut oldest) = self.pieces.pop_front()
        {
            self.bytes -= oldest.used_bytes();
            oldest.clear();
            self.spare = Some(oldest);
        }
    }

    /// The calls, the newest first.
    fn newest_first(&self) -> impl Iterator<Item = CallEntry<'_>> {
        let pieces = self.pieces.iter().rev();
        let places = pieces.flat_map(|piece| (0..piece.len()).rev().map(move |at| (piece, at)));
        let numbers = (1..=self.last_number).rev();
        places
            .zip(numbers)
            .map(|((piece, at), number)| piece.get(at, number))
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
        self.pieces.clear();
        self.bytes = 0;
    }
}

impl FreshCalls {
    /// Adds a call of a client, as of this microsecond.
    #[inline]
    pub(crate) fn add(
        &mut self,
        at: (u64, Option<&Client>),
        spec: Option<&'static Spec>,
        said: Said<'_>,
        reply: &[u8],
    ) {
        let kept = reply.len().min(REPLY_BYTES_MAX);
        self.0.add(at, spec, said, &reply[..kept]);
    }

    /// Says which fault struck the call that was added last.
    pub(crate) fn add_fault(&mut self, fault: Vec<u8>) {
        self.0.add_fault(fault);
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Whether there are so many that they are to be added to the log as they are.
    pub(crate) fn are_many(&self) -> bool {
        self.0.used_bytes() >= PIECE_BYTES
    }
}

impl CallEntry<'_> {
    /// What was asked.
    pub(crate) fn request(&self) -> OwnedRequest {
        piece::words_of(self.frame)
    }

    /// Whether the reply is an error.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.reply.first(), Some(b'-' | b'!'))
    }
}

/// How much of a reply is kept.
const REPLY_BYTES_MAX: usize = 64 * 1_024;
/// How much the log may take.
const LOG_BYTES_MAX: usize = 32 * 1_024 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn add(log: &mut CallLog, fresh: &mut FreshCalls, words: &[&[u8]], reply: &[u8]) {
        let request: OwnedRequest = words.iter().collect();
        let said = Said::Words(request.as_request());
        fresh.add((7, None), None, said, reply);
        if fresh.are_many() {
            log.add(fresh);
        }
    }

    #[test]
    fn calls_come_out_as_they_went_in_and_the_oldest_are_forgotten() {
        let (mut log, mut fresh) = (CallLog::default(), FreshCalls::default());
        let value = vec![b'v'; 10_000];
        let all = CallFilter::default();
        let mut asked = 0;
        for round in 0..5_000 {
            let number = round.to_string();
            add(
                &mut log,
                &mut fresh,
                &[b"SET", number.as_bytes(), &value],
                b"+OK\r\n",
            );
            if round % 1_000 == 0 {
                fresh.add_fault(b"fault".to_vec());
                log.add(&mut fresh);
                asked = all.find(&log).len();
            }
        }
        log.add(&mut fresh);
        assert!(fresh.is_empty() && asked > 2_000);

        let found = all.find(&log);
        assert!(
            (3_000..3_500).contains(&found.len()),
            "32 MiB: {}",
            found.len()
        );
        let first = 5_000 - found.len();
        for (at, entry) in (first..).zip(&found) {
            let number = at.to_string();
            assert_eq!(entry.number, at as u64 + 1);
            assert!(entry.request().as_request().iter().eq([
                b"SET",
                number.as_bytes(),
                &value[..]
            ]));
            assert_eq!(entry.reply, b"+OK\r\n");
            let fault = (at % 1_000 == 0).then_some(&b"fault"[..]);
            assert_eq!(entry.fault, fault, "{at}");
        }
        let last = CallFilter {
            since: 4_999,
            ..CallFilter::default()
        };
        assert_eq!(last.find(&log).len(), 1);
        log.clear();
        add(&mut log, &mut fresh, &[b"PING"], b"+PONG\r\n");
        log.add(&mut fresh);
        assert_eq!(all.find(&log)[0].number, 5_001);
    }
}
