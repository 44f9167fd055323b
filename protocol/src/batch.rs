//! What one look at an input buffer found: whole requests, and where their arguments lie.

use crate::decode::Headers;
use crate::request::Request;
use crate::request::Span;

/// Whole requests found in an input buffer, in the order in which they came.
///
/// A batch is meant to be used again and again: once it has grown to what a client sends, finding
/// requests allocates nothing.
#[derive(Debug, Default)]
pub struct Batch {
    found: Vec<Found>,
    /// The arguments of all requests, one after the other.
    pub(crate) spans: Vec<Span>,
    /// The arguments of inline commands: their quotes and escapes are taken out, so that they cannot
    /// lie in the input.
    pub(crate) inline_bytes: Vec<u8>,
    /// What the arguments of earlier requests began with. It stays when these are forgotten.
    pub(crate) headers: Headers,
}

impl Batch {
    /// A batch that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the requests, and gives back memory that only an unusual command needed.
    pub fn clear(&mut self) {
        self.found.clear();
        self.spans.clear();
        self.spans.shrink_to(SPANS_KEPT_MAX);
        self.inline_bytes.clear();
        self.inline_bytes.shrink_to(INLINE_BYTES_KEPT_MAX);
    }

    /// The number of requests.
    #[inline]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether no request was found.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The request at `index`. `input` is what the decoder was given when it filled this batch.
    ///
    /// # Panics
    ///
    /// If there are not so many requests, or (here or when an argument is looked at) if `input` is
    /// shorter than it was.
    #[inline]
    pub fn request<'a>(&'a self, input: &'a [u8], index: usize) -> Request<'a> {
        let found = self.found[index];
        let spans_start = match index.checked_sub(1) {
            Some(before) => self.found[before].spans_end,
            None => 0,
        };
        let bytes = if found.inline {
            &self.inline_bytes
        } else {
            input
        };
        Request::new(&self.spans[spans_start..found.spans_end], bytes)
    }

    /// The bytes of input that the first `count` requests take: what a caller drops when it has executed
    /// those and stops there.
    ///
    /// # Panics
    ///
    /// If there are not so many requests.
    #[inline]
    pub fn input_bytes(&self, count: usize) -> usize {
        match count {
            0 => 0,
            count => self.found[count - 1].input_end,
        }
    }

    /// The memory that it holds, in bytes: for what it found, or kept for what it will find.
    pub fn heap_bytes(&self) -> usize {
        self.found.capacity() * size_of::<Found>()
            + self.spans.capacity() * size_of::<Span>()
            + self.inline_bytes.capacity()
    }

    /// Closes a request whose arguments are the spans since the last one.
    #[inline]
    pub(crate) fn push(&mut self, input_end: usize, inline: bool) {
        self.found.push(Found {
            spans_end: self.spans.len(),
            input_end,
            inline,
        });
    }
}

#[derive(Clone, Copy, Debug)]
struct Found {
    spans_end: usize,
    input_end: usize,
    inline: bool,
}

/// Arguments that a batch keeps room for while it is unused: thirty each for a full batch.
const SPANS_KEPT_MAX: usize = 4_096;
/// Bytes of inline commands that a batch keeps room for while it is unused.
const INLINE_BYTES_KEPT_MAX: usize = 16 * 1_024;
