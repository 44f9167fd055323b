//! Calls in one piece of memory.
//!
//! What each client sent and heard is copied as it stood on the wire, one behind the other, and read apart only when
//! somebody asks: a server that only notes calls, and has no faults, is to be as quick as one that notes none.

use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::OwnedRequest;
use tailrace_protocol::Request;

use super::CallEntry;
use crate::client::Client;
use crate::client::ClientId;
use crate::spec::Spec;

/// Calls, in the order in which they were answered.
#[derive(Default)]
pub(super) struct Piece {
    records: Vec<Record>,
    heads: Vec<Head>,
    faults: Vec<Vec<u8>>,
    /// What was sent and what was heard, in turn.
    bytes: Vec<u8>,
}

/// One call.
struct Record {
    /// Nothing for a command that there is not.
    spec: Option<&'static Spec>,
    /// Where in `bytes` what was heard begins, and where it ends. What was sent begins where the last one ends.
    reply_start: usize,
    end: usize,
    head: usize,
    /// One more than its place among the faults; 0 if none struck.
    fault: usize,
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
    /// As it stood on the wire.
    Frame(&'a [u8]),
    /// In words.
    Words(Request<'a>),
}

impl Piece {
    /// One that is as large already as it will be.
    pub(super) fn with_room() -> Self {
        Self {
            records: Vec::with_capacity(PIECE_BYTES / 4 / size_of::<Record>()),
            bytes: Vec::with_capacity(PIECE_BYTES),
            ..Self::default()
        }
    }

    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The memory that the calls take, without what is kept for others.
    pub(super) fn used_bytes(&self) -> usize {
        self.bytes.len()
            + self.records.len() * size_of::<Record>()
            + self.heads.len() * size_of::<Head>()
    }

    /// Adds a call of a client, as of this microsecond. Who is gone already is nobody.
    #[inline]
    pub(super) fn add(
        &mut self,
        (at_us, client): (u64, Option<&Client>),
        spec: Option<&'static Spec>,
        said: Said<'_>,
        reply: &[u8],
    ) {
        let head = self.head_of(at_us, client);
        match said {
            Said::Frame(frame) => self.bytes.extend_from_slice(frame),
            Said::Words(request) => append_words(request, &mut self.bytes),
        }
        let reply_start = self.bytes.len();
        self.bytes.extend_from_slice(reply);
        self.records.push(Record {
            spec,
            reply_start,
            end: self.bytes.len(),
            head,
            fault: 0,
        });
    }

    /// Says which fault struck the call that was added last.
    pub(super) fn add_fault(&mut self, fault: Vec<u8>) {
        self.faults.push(fault);
        if let Some(record) = self.records.last_mut() {
            record.fault = self.faults.len();
        }
    }

    /// Where what this call has in common with the last ones stands.
    #[inline]
    fn head_of(&mut self, at_us: u64, client: Option<&Client>) -> usize {
        if let (Some(head), Some(client)) = (self.heads.last(), client)
            && head.client == client.id
            && head.at_us == at_us
            && is_same_name(&head.name, &client.name)
            && head.node == client.face.place()
        {
            return self.heads.len() - 1;
        }
        self.begin_head(at_us, client)
    }

    fn begin_head(&mut self, at_us: u64, client: Option<&Client>) -> usize {
        self.heads.push(Head {
            at_us,
            client: client.map_or(ClientId::NOBODY, |client| client.id),
            name: client.map_or_else(Vec::new, |client| client.name.clone()),
            node: client.map_or(0, |client| client.face.place()),
        });
        self.heads.len() - 1
    }

    /// Takes the calls of another piece behind its own, which keeps its memory for others.
    pub(super) fn absorb(&mut self, other: &mut Self) {
        let (base, heads, faults) = (self.bytes.len(), self.heads.len(), self.faults.len());
        self.bytes.extend_from_slice(&other.bytes);
        other.bytes.clear();
        self.heads.append(&mut other.heads);
        self.faults.append(&mut other.faults);
        let records = other.records.drain(..).map(|record| Record {
            reply_start: base + record.reply_start,
            end: base + record.end,
            head: heads + record.head,
            fault: match record.fault {
                0 => 0,
                fault => faults + fault,
            },
            ..record
        });
        self.records.extend(records);
        other.bytes.shrink_to(BYTES_KEPT);
    }

    /// Forgets the calls, and keeps the memory for others unless it is much.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.heads.clear();
        self.faults.clear();
        self.bytes.clear();
        self.bytes.shrink_to(BYTES_KEPT);
    }

    /// The call at `index`, whose number is this.
    pub(super) fn get(&self, index: usize, number: u64) -> CallEntry<'_> {
        let record = &self.records[index];
        let start = match index.checked_sub(1) {
            Some(before) => self.records[before].end,
            None => 0,
        };
        let head = &self.heads[record.head];
        let fault = record.fault.checked_sub(1);
        CallEntry {
            number,
            at_us: head.at_us,
            client: head.client,
            client_name: &head.name,
            node: head.node,
            spec: record.spec,
            frame: &self.bytes[start..record.reply_start],
            reply: &self.bytes[record.reply_start..record.end],
            fault: fault.map(|fault| &*self.faults[fault]),
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
pub(super) const PIECE_BYTES: usize = 256 * 1_024;
const BYTES_KEPT: usize = PIECE_BYTES + 64 * 1_024;
