//! The call log: what clients asked, and what they heard.
//!
//! An engine notes calls in a [`FreshCalls`] of its own, for which it needs no other lock, and adds them to the log
//! when somebody asks for them or when they are many. Where others may ask, it does so whenever its own lock is released.

mod fresh;
mod piece;
mod split;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::VecDeque;

use tailrace_protocol::OwnedRequest;
use tailrace_storage::Instant;

pub(crate) use self::fresh::FreshCalls;
pub(crate) use self::fresh::Spot;
use self::piece::PIECE_BYTES;
use self::piece::Piece;
pub(crate) use self::piece::Said;
use super::rules::Filter;
use super::strict::NameCounts;
use super::subject::Subject;
use crate::client::ClientId;
use crate::command_table::CommandTable;
use crate::config::Rename;
use crate::spec::Group;
use crate::spec::Spec;

/// The last calls, in the order in which they were answered.
pub(crate) struct CallLog {
    /// What commands are called, by which calls are told that are not kept one by one.
    renames: Vec<Rename>,
    /// The oldest first, and since when they are here. Others are added to the last one.
    pieces: VecDeque<(Instant, Piece)>,
    last_number: u64,
    /// How much they take, and how much they may.
    bytes: usize,
    bytes_max: usize,
    /// They come as fast as only a load sends them.
    is_flood: bool,
    /// How many were forgotten since all were.
    forgotten: u64,
    /// The memory of the piece that was forgotten last.
    spare: Option<Piece>,
    /// How often each command was asked for that there is not, by name.
    unsupported: NameCounts,
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
        let commands = CommandTable::new(&log.renames, true);
        let newest = log.newest_first(&commands);
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
    /// One that remembers so much of the last calls, or a little more, of commands that are called so.
    pub(crate) fn new(bytes_max: usize, renames: Vec<Rename>) -> Self {
        Self {
            renames,
            pieces: VecDeque::new(),
            last_number: 0,
            bytes: 0,
            bytes_max,
            is_flood: false,
            forgotten: 0,
            spare: None,
            unsupported: NameCounts::default(),
        }
    }

    /// Forgets everything, and counts from 1 again.
    pub(crate) fn begin_again(&mut self) {
        self.clear();
        self.last_number = 0;
        self.spare = None;
        self.unsupported = NameCounts::default();
    }

    /// Adds calls; `clock` shows the host's time.
    pub(crate) fn add(&mut self, fresh: &mut FreshCalls, clock: impl FnOnce() -> Instant) {
        let piece = fresh.settle();
        let added = piece.used_bytes();
        // So few of them come because somebody asks: what follows is told whole.
        let is_asked = added < PIECE_BYTES;
        self.bytes += added;
        self.last_number += piece.len() as u64;
        if let Some((_, last)) = self.pieces.back_mut()
            && last.used_bytes() + added < PIECE_BYTES
        {
            last.absorb(piece);
            return fresh.set_flood(false);
        }
        let now = clock();
        self.make_room(now);
        let mut next = match self.pieces.is_empty() {
            // There may be no more.
            true => Piece::default(),
            false => self.spare.take().unwrap_or_else(Piece::with_room),
        };
        match is_asked {
            true => next.absorb(piece),
            false => std::mem::swap(&mut next, piece),
        }
        self.pieces.push_back((now, next));
        fresh.set_flood(self.is_flood && !is_asked);
    }

    /// Forgets the oldest calls where there is no room.
    fn make_room(&mut self, now: Instant) {
        if let Some((since, _)) = self.pieces.front()
            && self.bytes > self.room()
        {
            let flood_bytes = now.since(*since).0.saturating_mul(FLOOD_BYTES_PER_MS);
            self.is_flood = self.bytes as u64 > flood_bytes;
        }
        while self.bytes > self.room()
            && let Some((_, mut oldest)) = self.pieces.pop_front()
        {
            self.bytes -= oldest.used_bytes();
            self.forgotten += oldest.len() as u64;
            oldest.clear();
            self.spare = Some(oldest);
        }
    }

    fn room(&self) -> usize {
        match self.is_flood {
            true => FLOOD_ROOM_BYTES.min(self.bytes_max),
            false => self.bytes_max,
        }
    }

    /// How many calls were forgotten to make room for others.
    pub(crate) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The calls, the newest first.
    fn newest_first<'a>(&'a self, commands: &CommandTable) -> impl Iterator<Item = CallEntry<'a>> {
        let pieces = self.pieces.iter().rev();
        let entries = pieces.flat_map(|(_, piece)| piece.newest_first(commands));
        let numbers = (1..=self.last_number).rev();
        let numbered = entries.zip(numbers);
        numbered.map(|(entry, number)| CallEntry { number, ..entry })
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
        self.is_flood = false;
        self.forgotten = 0;
    }
}

impl CallEntry<'_> {
    /// What was asked.
    pub(crate) fn request(&self) -> OwnedRequest {
        split::words_of(self.frame)
    }

    /// Whether the reply is an error.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.reply.first(), Some(b'-' | b'!'))
    }
}

/// Whether a command changes nothing about its client, and is answered by one reply.
#[inline]
pub(crate) fn is_plain(spec: &'static Spec) -> bool {
    matches!(
        spec.group,
        Group::Generic | Group::String | Group::Bitmap | Group::Stream
    )
}

/// What comes faster than this is a load, not a test: some 100,000 small calls a second.
const FLOOD_BYTES_PER_MS: u64 = 16 * 1_024;
/// How much of that is kept, besides the ends of long replies, so that the memory stays in the processor's caches.
const FLOOD_ROOM_BYTES: usize = 256 * 1_024;
/// How much of a reply is kept.
pub(crate) const REPLY_BYTES_MAX: usize = 64 * 1_024;
