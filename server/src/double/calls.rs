//! The call log: what clients asked, and what they heard.
//!
//! An engine notes calls in a [`FreshCalls`] of its own, for which it needs no other lock, and adds them to the log
//! when somebody asks for them or when they are many. Where others may ask, it does so whenever its own lock is released.

mod piece;

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::ops::Range;

use tailrace_protocol::OwnedRequest;

use self::piece::PIECE_BYTES;
use self::piece::Piece;
pub(crate) use self::piece::Said;
use super::readers;
use super::rules::Filter;
use super::strict::NameCounts;
use super::subject::Subject;
use crate::client::Client;
use crate::client::ClientId;
use crate::spec::Flags;
use crate::spec::Group;
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
pub(crate) struct FreshCalls {
    piece: Piece,
    /// Where in the piece the batch stands that is being executed, unless it has gone into the log meanwhile.
    batch: Option<Range<usize>>,
    /// The command of the call that was added last, and when it was, if a call of the same batch, command and microsecond
    /// has all in common with it but its words.
    last: Option<(&'static Spec, u64)>,
}

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
        let added = fresh.piece.used_bytes();
        self.bytes += added;
        self.last_number += fresh.piece.len() as u64;
        fresh.batch = None;
        fresh.last = None;
        match self.pieces.back_mut() {
            Some(last) if last.used_bytes() + added < PIECE_BYTES => last.absorb(&mut fresh.piece),
            _ => {
                self.make_room();
                let next = match added < PIECE_BYTES {
                    true => Piece::default(),
                    // There will be as many again.
                    false => self.spare.take().unwrap_or_else(Piece::with_room),
                };
                self.pieces
                    .push_back(std::mem::replace(&mut fresh.piece, next));
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
    /// A batch is about to be executed, which came as these bytes.
    pub(crate) fn begin_batch(&mut self, input: &[u8]) {
        self.last = None;
        let start = self.piece.add_input(input);
        self.batch = Some(start..start + input.len());
    }

    /// So many bytes of the batch are done with.
    pub(crate) fn end_batch(&mut self, done: usize) {
        if let Some(batch) = self.batch.take() {
            self.piece.end_input(batch, done);
        }
    }

    /// Adds a call that stands at `sent` in the batch if it is like the last one, which is what most are. Says whether it was.
    #[inline]
    pub(crate) fn add_alike(
        &mut self,
        at_us: u64,
        spec: &'static Spec,
        sent: Range<usize>,
        reply: &[u8],
    ) -> bool {
        let (Some(batch), Some((last, last_at_us))) = (&self.batch, self.last) else {
            return false;
        };
        let is_alike = std::ptr::eq(last, spec) && last_at_us == at_us;
        if !is_alike || reply.len() > REPLY_BYTES_MAX {
            return false;
        }
        let start = batch.start + sent.start;
        self.piece.add_alike(spec, start, sent.len(), reply);
        true
    }

    /// Adds a call of a client, as of this microsecond.
    pub(crate) fn add(
        &mut self,
        at: (u64, Option<&Client>),
        spec: Option<&'static Spec>,
        said: Said<'_>,
        reply: &[u8],
    ) {
        let kept = reply.len().min(REPLY_BYTES_MAX);
        let batch_start = self.batch.as_ref().map(|batch| batch.start);
        let reply = &reply[..kept];
        self.piece.add(at, spec, said, batch_start, reply);
        let is_in_batch = batch_start.is_some() && matches!(said, Said::Frame(..));
        let plain = spec.filter(|spec| is_in_batch && is_plain(spec));
        self.last = plain.map(|spec| (spec, at.0));
    }

    /// Says which fault struck the call that was added last.
    pub(crate) fn add_fault(&mut self, fault: Vec<u8>) {
        self.piece.add_fault(fault);
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.piece.len() == 0
    }

    /// Whether there are so many that they are to be added to the log as they are.
    pub(crate) fn are_many(&self) -> bool {
        self.piece.used_bytes() >= PIECE_BYTES
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

/// Whether a command changes nothing about its client, and nothing else is to be noted of it than the call.
fn is_plain(spec: &'static Spec) -> bool {
    !spec.flags.has(Flags::DOUBLE)
        && !readers::is_noted(spec)
        && matches!(spec.group, Group::Stream | Group::String | Group::Generic)
}

/// How much of a reply is kept.
const REPLY_BYTES_MAX: usize = 64 * 1_024;
/// How much the log may take, so that it stays in the processor's caches. Where the calls are small that is some 12,000 of them.
const LOG_BYTES_MAX: usize = 2 * 1_024 * 1_024;

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
        assert!(fresh.is_empty() && asked > 150);

        let found = all.find(&log);
        assert!((190..220).contains(&found.len()), "2 MiB: {}", found.len());
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

    #[test]
    fn calls_of_a_batch_are_told_apart_though_the_log_is_asked_amid_them() {
        let (mut log, mut fresh) = (CallLog::default(), FreshCalls::default());
        let input = b"*1\r\n$1\r\na\r\n*1\r\n$2\r\nbb\r\n*1\r\n$3\r\nccc\r\n*1\r\n$1\r\nd\r\n";
        let spec = crate::commands::find(b"xadd").unwrap();
        let places = [0..11, 11..23, 23..36];
        fresh.begin_batch(input);
        for (at, place) in places.into_iter().enumerate() {
            let reply = at.to_string();
            let said = Said::Frame(&input[place.clone()], place.start);
            let is_alike = fresh.add_alike(7, spec, place, reply.as_bytes());
            assert_eq!(
                is_alike,
                at == 1,
                "after the first one, and not after it was asked"
            );
            if !is_alike {
                fresh.add((7, None), Some(spec), said, reply.as_bytes());
            }
            if at == 1 {
                assert!(!fresh.add_alike(8, spec, 0..11, b"later"));
                log.add(&mut fresh);
            }
        }
        fresh.end_batch(36);
        add(&mut log, &mut fresh, &[b"other"], b"x");
        log.add(&mut fresh);
        let found = CallFilter::default().find(&log);
        let told = |entry: &CallEntry<'_>| {
            let words = entry.request();
            let word = words.as_request().get(0).unwrap_or_default().to_vec();
            (word, entry.reply.to_vec())
        };
        let told: Vec<_> = found.iter().map(told).collect();
        let expected = [("a", "0"), ("bb", "1"), ("ccc", "2"), ("other", "x")];
        let expected = expected.map(|(word, reply)| (word.into(), reply.into()));
        assert_eq!(told, expected);
    }
}
