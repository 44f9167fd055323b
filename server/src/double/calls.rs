//! The call log: what clients asked, and what they heard.
//!
//! An engine notes calls in a [`FreshCalls`] of its own, for which it needs no other lock, and adds them to the log
//! when somebody asks for them or when they are many. Where others may ask, it does so whenever its own lock is released.

mod piece;
mod row;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::ops::Range;

use tailrace_protocol::OwnedRequest;

use self::piece::PIECE_BYTES;
use self::piece::Piece;
pub(crate) use self::piece::Said;
use self::row::Row;
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
    /// The batch that is being executed, unless it has gone into the log meanwhile.
    batch: Option<Origin>,
    /// The last calls of that batch.
    row: Row,
}

/// Where a batch came from.
struct Origin {
    /// Where in the piece it stands.
    place: Range<usize>,
    /// The microsecond and the client of its calls, by the piece's head.
    head: u32,
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
        fresh.end_row(&[]);
        let added = fresh.piece.used_bytes();
        self.bytes += added;
        self.last_number += fresh.piece.len() as u64;
        fresh.batch = None;
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
    /// A batch of a client is about to be executed, which came as these bytes, while there is so much output. If it is
    /// `is_simple`, nothing can come between its calls for now.
    pub(crate) fn begin_batch(
        &mut self,
        (at_us, client): (u64, Option<&Client>),
        input: &[u8],
        out_bytes: usize,
        is_simple: bool,
    ) {
        // The client of the batch before may have been ended amid a row, and heard nothing of it.
        self.end_row(&[]);
        let start = self.piece.add_input(input);
        let head = self.piece.head_of(at_us, client);
        let place = start..start + input.len();
        self.batch = Some(Origin { place, head });
        if is_simple {
            self.row.open(at_us, 0, out_bytes);
        }
    }

    /// So many bytes of the batch are done with, and this is the output.
    pub(crate) fn end_batch(&mut self, done: usize, out: &[u8]) {
        self.end_row(out);
        if let Some(batch) = self.batch.take() {
            self.piece.end_input(batch.place, done);
        }
    }

    /// Whether the next call may go on with the row of those before, given when that is, and how much output there is. If not, the
    /// row is to be ended.
    #[inline]
    pub(crate) fn goes_on(&self, at_us: u64, out_bytes: usize) -> bool {
        self.row.goes_on(at_us, out_bytes)
    }

    /// Adds a call with which the row was to go on, now that it is answered. Says whether it does; if not, the row is to be
    /// ended.
    #[inline]
    pub(crate) fn add_to_row(
        &mut self,
        spec: &'static Spec,
        sent_end: usize,
        out_bytes: usize,
    ) -> bool {
        is_plain(spec) && self.row.add(spec, sent_end, out_bytes)
    }

    /// Adds the calls of a row, whose replies stand in the output.
    #[inline]
    pub(crate) fn end_row(&mut self, out: &[u8]) {
        let (batch, row) = (self.batch.as_ref(), self.row.close());
        if let (Some(batch), Some(mut row)) = (batch, row) {
            self.piece
                .add_row(&mut row, (batch.head, batch.place.start), out);
        }
    }

    /// Opens a row for the calls from this place of the batch and of the output on.
    pub(crate) fn open_row(
        &mut self,
        (at_us, client): (u64, Option<&Client>),
        sent_end: usize,
        out_bytes: usize,
    ) {
        if let Some(batch) = &mut self.batch {
            batch.head = self.piece.head_of(at_us, client);
            self.row.open(at_us, sent_end, out_bytes);
        }
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
        let batch_start = self.batch.as_ref().map(|batch| batch.place.start);
        self.piece.add(at, spec, said, batch_start, &reply[..kept]);
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
    matches!(spec.group, Group::Stream | Group::String | Group::Generic)
        && !spec.flags.has(Flags::DOUBLE)
}

/// How much of a reply is kept.
const REPLY_BYTES_MAX: usize = 64 * 1_024;
/// How much the log may take, so that it stays in the processor's caches. Where the calls are small that is some 12,000 of them.
const LOG_BYTES_MAX: usize = 2 * 1_024 * 1_024;
