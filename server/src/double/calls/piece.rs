//! Calls in one piece of memory.
//!
//! What each client sent and heard is copied as it stood on the wire, one behind the other, and read apart only when
//! somebody asks: a server that only notes calls, and has no faults, is to be as quick as one that notes none. What a
//! client sent at once is copied at once, before the first of it is executed.

mod read;

use std::ops::Range;

use tailrace_protocol::Request;

use super::REPLY_BYTES_MAX;
use super::split::end_of;
use super::split::parts;
use super::split::reply_ends;
use super::split::request_ends;
use crate::client::Client;
use crate::client::ClientId;
use crate::spec::Spec;

/// Calls, in the order in which they were answered.
#[derive(Default)]
pub(super) struct Piece {
    rows: Vec<Row>,
    /// How many calls there are.
    calls: usize,
    heads: Vec<Head>,
    /// With the place of the row that is the call which each struck, in order.
    faults: Vec<(usize, Vec<u8>)>,
    /// What was sent.
    requests: Vec<u8>,
    /// What was heard.
    replies: Vec<u8>,
}

/// Calls that follow each other, or one alone.
#[derive(Clone)]
struct Row {
    at_us: u64,
    /// The place of what they have in common with others.
    head: u32,
    calls: Calls,
    /// Only the beginning is kept of what they heard.
    is_part: bool,
    /// Where in `requests` and `replies` they stand. What was heard is empty if it is not known.
    requests: Range<usize>,
    replies: Range<usize>,
}

/// How many calls, and of which commands.
#[derive(Clone, Copy)]
enum Calls {
    /// One, of this command; nothing if there is none of its name.
    One(Option<&'static Spec>),
    /// So many, of commands that are there.
    Many(usize),
}

impl Calls {
    fn len(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(count) => count,
        }
    }
}

/// What the calls of a client have in common, as long as nobody else calls.
struct Head {
    client: ClientId,
    name: Vec<u8>,
    node: usize,
}

/// What a client sent.
#[derive(Clone, Copy)]
pub(crate) enum Said<'a> {
    /// As it stood on the wire, and where in the batch that it came with.
    Frame(&'a [u8], usize),
    /// In words.
    Words(Request<'a>),
}

impl Piece {
    /// One that is as large already as it will be.
    pub(super) fn with_room() -> Self {
        Self {
            rows: Vec::with_capacity(PIECE_BYTES / ROW_BYTES_USUAL),
            requests: Vec::with_capacity(PIECE_BYTES),
            replies: Vec::with_capacity(PIECE_BYTES / 2),
            ..Self::default()
        }
    }

    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.calls
    }

    /// The memory that the calls take, without what is kept for others.
    pub(super) fn used_bytes(&self) -> usize {
        self.requests.len()
            + self.replies.len()
            + self.rows.len() * size_of::<Row>()
            + self.heads.len() * size_of::<Head>()
    }

    /// Copies what a client has sent, before it is known which calls come of it. Gives where it stands.
    pub(super) fn add_input(&mut self, input: &[u8]) -> usize {
        let start = self.requests.len();
        self.requests.extend_from_slice(input);
        start
    }

    /// Of what was sent no calls came from `done` on. It is forgotten, unless other calls stand behind it.
    pub(super) fn end_input(&mut self, input: Range<usize>, done: usize) {
        if self.requests.len() == input.end {
            self.requests.truncate(input.start + done);
        }
    }

    /// Adds a call of a client, as of this microsecond. Who is gone already is nobody. What it came with may be there
    /// already, from `batch_start` on.
    pub(super) fn add(
        &mut self,
        (at_us, client): (u64, Option<&Client>),
        spec: Option<&'static Spec>,
        said: Said<'_>,
        batch_start: Option<usize>,
        reply: &[u8],
    ) {
        let head = self.head_of(client);
        let (start, bytes) = match (said, batch_start) {
            (Said::Frame(frame, at), Some(start)) => (start + at, frame.len()),
            (Said::Frame(frame, _), None) => (self.add_input(frame), frame.len()),
            (Said::Words(request), _) => {
                let start = self.requests.len();
                append_words(request, &mut self.requests);
                (start, self.requests.len() - start)
            }
        };
        self.calls += 1;
        let replies = self.add_heard(reply);
        self.rows.push(Row {
            at_us,
            head,
            calls: Calls::One(spec),
            is_part: false,
            requests: start..start + bytes,
            replies,
        });
    }

    /// Begins a row of calls of one microsecond and head. Gives its place.
    #[inline]
    pub(super) fn begin_row(&mut self, at_us: u64, head: u32) -> usize {
        let place = self.rows.len();
        self.rows.push(Row {
            at_us,
            head,
            calls: Calls::Many(0),
            is_part: false,
            requests: 0..0,
            replies: 0..0,
        });
        place
    }

    /// Ends the last row, which is at this place, with so many calls. It is forgotten if it has none.
    #[inline]
    pub(super) fn end_row(&mut self, place: usize, calls: usize) {
        self.calls += calls;
        match self.rows.get_mut(place) {
            Some(row) if calls > 0 => row.calls = Calls::Many(calls),
            _ => self.rows.truncate(place),
        }
    }

    /// Says where the requests of a row stand, and what they heard.
    #[inline]
    pub(super) fn fill_row(&mut self, place: usize, requests: Range<usize>, heard: &[u8]) {
        let Some(row) = self.rows.get_mut(place) else {
            return;
        };
        let start = self.replies.len();
        row.requests = requests;
        row.replies = start..start + heard.len();
        match heard.len() <= REPLY_BYTES_MAX {
            true => self.replies.extend_from_slice(heard),
            false => self.part_row(place, heard),
        }
    }

    /// [`Self::fill_row`], where this is the beginning of what they heard.
    pub(super) fn fill_row_in_part(&mut self, place: usize, requests: Range<usize>, heard: &[u8]) {
        self.fill_row(place, requests, heard);
        if let Some(row) = self.rows.get_mut(place) {
            row.is_part = true;
        }
    }

    /// Makes a row of each call of a row, since no more than a part of what some heard is kept.
    #[cold]
    fn part_row(&mut self, place: usize, heard: &[u8]) {
        let row = self.rows[place].clone();
        let count = row.calls.len();
        let ends = request_ends(&self.requests[row.requests.clone()], count);
        let mut start = row.requests.start;
        let mut alone = Vec::with_capacity(count);
        for (end, heard) in ends.into_iter().zip(parts(heard, reply_ends(heard, count))) {
            let end = row.requests.start + end;
            let kept = &heard[..heard.len().min(REPLY_BYTES_MAX)];
            alone.push(Row {
                calls: Calls::Many(1),
                requests: start..end,
                replies: self.add_heard(kept),
                ..row
            });
            start = end;
        }
        self.rows.splice(place..=place, alone);
        let faults = self.faults.iter_mut();
        let behind = faults.filter(|(of, _)| *of > place);
        behind.for_each(|(of, _)| *of += count - 1);
    }

    /// [`Self::fill_row`] for several rows whose requests and replies stand one behind the other.
    #[cold]
    pub(super) fn fill_rows(
        &mut self,
        places: &[usize],
        requests: Range<usize>,
        heard: Option<&[u8]>,
    ) {
        let (mut start, mut left) = (requests.start, heard);
        let mut rows = Vec::with_capacity(places.len());
        for place in places {
            let count = self.rows.get(*place).map_or(0, |row| row.calls.len());
            let end = start + end_of(&request_ends(&self.requests[start..requests.end], count));
            let heard = left.map(|left| left.split_at(end_of(&reply_ends(left, count))));
            rows.push((*place, start..end, heard.map(|(heard, _)| heard)));
            (start, left) = (end, heard.map(|(_, left)| left));
        }
        // The last first, since a row may become several.
        for (place, requests, heard) in rows.into_iter().rev() {
            self.fill_row(place, requests, heard.unwrap_or_default());
        }
    }

    #[inline]
    fn add_heard(&mut self, heard: &[u8]) -> Range<usize> {
        let start = self.replies.len();
        self.replies.extend_from_slice(heard);
        start..self.replies.len()
    }

    /// Says which fault struck the call that was added last.
    pub(super) fn add_fault(&mut self, fault: Vec<u8>) {
        if let Some(last) = self.rows.len().checked_sub(1) {
            self.faults.push((last, fault));
        }
    }

    /// Where what the calls of a client have in common stands, who is nobody if it is gone already.
    #[inline]
    pub(super) fn head_of(&mut self, client: Option<&Client>) -> u32 {
        if let (Some(head), Some(client)) = (self.heads.last(), client)
            && head.client == client.id
            && is_same_name(&head.name, &client.name)
            && head.node == client.face.place()
        {
            return self.last_head();
        }
        self.begin_head(client)
    }

    #[cold]
    fn begin_head(&mut self, client: Option<&Client>) -> u32 {
        self.heads.push(Head {
            client: client.map_or(ClientId::NOBODY, |client| client.id),
            name: client.map_or_else(Vec::new, |client| client.name.clone()),
            node: client.map_or(0, |client| client.face.place()),
        });
        self.last_head()
    }

    fn last_head(&self) -> u32 {
        self.head_count() - 1
    }

    /// A piece is given to the log long before its heads are as many as this can count.
    fn head_count(&self) -> u32 {
        u32::try_from(self.heads.len()).unwrap_or(u32::MAX)
    }

    /// Takes the calls of another piece behind its own, which keeps its memory for others.
    pub(super) fn absorb(&mut self, other: &mut Self) {
        let (requests, replies) = (self.requests.len(), self.replies.len());
        let (rows, heads) = (self.rows.len(), self.head_count());
        self.requests.extend_from_slice(&other.requests);
        self.replies.extend_from_slice(&other.replies);
        self.calls += other.calls;
        self.heads.append(&mut other.heads);
        let faults = other.faults.drain(..);
        let faults = faults.map(|(place, fault)| (rows + place, fault));
        self.faults.extend(faults);
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let added = other.rows.drain(..).map(|row| Row {
            head: heads + row.head,
            requests: moved(row.requests, requests),
            replies: moved(row.replies, replies),
            ..row
        });
        self.rows.extend(added);
        other.clear();
    }

    /// Forgets the calls, and keeps the memory for others unless it is much.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.calls = 0;
        self.heads.clear();
        self.faults.clear();
        for bytes in [&mut self.requests, &mut self.replies] {
            bytes.clear();
            bytes.shrink_to(BYTES_KEPT);
        }
    }
}

/// Whether two names are alike. Most clients have none, and a comparison of nothing with nothing reads through pointers that
/// are none, which takes some processors as long as a command.
#[inline]
fn is_same_name(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// Writes a request as clients send it.
#[cold]
fn append_words(request: Request<'_>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(format!("*{}\r\n", request.len()).as_bytes());
    for word in request {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
}

/// What a row takes with one call that is small.
const ROW_BYTES_USUAL: usize = 192;
/// How much a piece holds, or a little more. What it took beyond that is given back.
pub(super) const PIECE_BYTES: usize = 64 * 1_024;
const BYTES_KEPT: usize = 2 * PIECE_BYTES;
