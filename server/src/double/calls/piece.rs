//! Calls in one piece of memory.
//!
//! What each client sent and heard is copied as it stood on the wire, one behind the other, and read apart only when
//! somebody asks: a server that only notes calls, and has no faults, is to be as quick as one that notes none. What a
//! client sent at once is copied at once, before the first of it is executed.

use std::ops::Range;

use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::OwnedRequest;
use tailrace_protocol::Request;

use super::CallEntry;
use super::row::Call;
use super::row::Over;
use crate::client::Client;
use crate::client::ClientId;
use crate::spec::Spec;

/// Calls, in the order in which they were answered.
#[derive(Default)]
pub(super) struct Piece {
    rows: Vec<Record>,
    calls: Vec<Call>,
    heads: Vec<Head>,
    /// With the place of the call that each struck, in order.
    faults: Vec<(usize, Vec<u8>)>,
    /// What was sent.
    requests: Vec<u8>,
    /// What was heard.
    replies: Vec<u8>,
}

/// Calls that follow each other, or one alone.
struct Record {
    head: u32,
    /// The place of the first of them.
    first: usize,
    /// Where in `requests` what was sent begins, and in `replies` what was heard.
    request_start: usize,
    reply_start: usize,
}

/// What calls in a row have in common.
struct Head {
    at_us: u64,
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
            calls: Vec::with_capacity(PIECE_BYTES / 4 / size_of::<Call>()),
            requests: Vec::with_capacity(PIECE_BYTES),
            replies: Vec::with_capacity(PIECE_BYTES / 2),
            ..Self::default()
        }
    }

    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The memory that the calls take, without what is kept for others.
    pub(super) fn used_bytes(&self) -> usize {
        self.requests.len()
            + self.replies.len()
            + self.calls.len() * size_of::<Call>()
            + self.rows.len() * size_of::<Record>()
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
        let head = self.head_of(at_us, client);
        let (request_start, bytes) = match (said, batch_start) {
            (Said::Frame(frame, at), Some(start)) => (start + at, frame.len()),
            (Said::Frame(frame, _), None) => (self.add_input(frame), frame.len()),
            (Said::Words(request), _) => {
                let start = self.requests.len();
                append_words(request, &mut self.requests);
                (start, self.requests.len() - start)
            }
        };
        self.rows.push(Record {
            head,
            first: self.calls.len(),
            request_start,
            reply_start: self.replies.len(),
        });
        self.replies.extend_from_slice(reply);
        self.calls.push(Call {
            spec,
            sent: bytes,
            heard: reply.len(),
        });
    }

    /// Adds calls that have a head in common and came with the batch that stands from `batch_start` on. Replies stand in `out`, or
    /// are not known if that has none.
    pub(super) fn add_row(
        &mut self,
        row: &mut Over<'_>,
        (head, batch_start): (u32, usize),
        out: &[u8],
    ) {
        let heard_end = row.calls.last().map_or(0, |call| call.heard);
        let heard = row.heard_start..row.heard_start + heard_end;
        let heard = out.get(heard).unwrap_or_default();
        if heard.len() < heard_end {
            row.calls.iter_mut().for_each(|call| call.heard = 0);
        }
        self.rows.push(Record {
            head,
            first: self.calls.len(),
            request_start: batch_start + row.sent_start,
            reply_start: self.replies.len(),
        });
        self.replies.extend_from_slice(heard);
        self.calls.append(row.calls);
    }

    /// Says which fault struck the call that was added last.
    pub(super) fn add_fault(&mut self, fault: Vec<u8>) {
        if let Some(last) = self.calls.len().checked_sub(1) {
            self.faults.push((last, fault));
        }
    }

    /// Where what this call has in common with the last ones stands.
    #[inline]
    pub(super) fn head_of(&mut self, at_us: u64, client: Option<&Client>) -> u32 {
        if let (Some(head), Some(client)) = (self.heads.last(), client)
            && head.client == client.id
            && head.at_us == at_us
            && is_same_name(&head.name, &client.name)
            && head.node == client.face.place()
        {
            return self.last_head();
        }
        self.begin_head(at_us, client)
    }

    #[cold]
    fn begin_head(&mut self, at_us: u64, client: Option<&Client>) -> u32 {
        self.heads.push(Head {
            at_us,
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
        let (calls, heads) = (self.calls.len(), self.head_count());
        self.requests.extend_from_slice(&other.requests);
        self.replies.extend_from_slice(&other.replies);
        self.heads.append(&mut other.heads);
        let faults = other.faults.drain(..);
        let faults = faults.map(|(place, fault)| (calls + place, fault));
        self.faults.extend(faults);
        let added = other.rows.drain(..).map(|row| Record {
            first: calls + row.first,
            request_start: requests + row.request_start,
            reply_start: replies + row.reply_start,
            head: heads + row.head,
        });
        self.rows.extend(added);
        self.calls.append(&mut other.calls);
        other.clear();
    }

    /// Forgets the calls, and keeps the memory for others unless it is much.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.calls.clear();
        self.heads.clear();
        self.faults.clear();
        for bytes in [&mut self.requests, &mut self.replies] {
            bytes.clear();
            bytes.shrink_to(BYTES_KEPT);
        }
    }

    /// The call at `index`, whose number is this.
    pub(super) fn get(&self, index: usize, number: u64) -> CallEntry<'_> {
        let at = self.rows.partition_point(|row| row.first <= index) - 1;
        let row = &self.rows[at];
        let starts = match index > row.first {
            true => self.calls[index - 1],
            false => Call {
                spec: None,
                sent: 0,
                heard: 0,
            },
        };
        let call = self.calls[index];
        let of = |start: usize, from: usize, to: usize| start + from..start + to;
        let request = of(row.request_start, starts.sent, call.sent);
        let reply = of(row.reply_start, starts.heard, call.heard);
        let head = &self.heads[row.head as usize];
        let fault = self
            .faults
            .binary_search_by_key(&index, |(place, _)| *place);
        CallEntry {
            number,
            at_us: head.at_us,
            client: head.client,
            client_name: &head.name,
            node: head.node,
            spec: call.spec,
            frame: &self.requests[request],
            reply: &self.replies[reply],
            fault: fault.ok().map(|fault| &*self.faults[fault].1),
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

/// Reads a request as clients send it.
pub(super) fn words_of(frame: &[u8]) -> OwnedRequest {
    let mut batch = Batch::new();
    let decoded = Decoder::default().decode(frame, &mut batch, BatchBounds::ONE);
    debug_assert!(decoded.is_ok(), "what is kept was read before");
    match batch.is_empty() {
        true => OwnedRequest::default(),
        false => batch.request(frame, 0).to_owned(),
    }
}

/// How much a piece holds, or a little more. What it took beyond that is given back.
pub(super) const PIECE_BYTES: usize = 128 * 1_024;
const BYTES_KEPT: usize = 2 * PIECE_BYTES;
