//! One command: its name and arguments, borrowed from where its bytes lie.

use std::fmt;
use std::iter::FusedIterator;
use std::slice;

/// A command as the client sent it, the name first. Cheap to copy: two slices.
///
/// Out of a [`Batch`](crate::Batch) it is never empty; what [`Self::skip`] leaves may be.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Invariant: every span lies within `bytes`.
    spans: &'a [Span],
    bytes: &'a [u8],
}

impl<'a> Request<'a> {
    pub(crate) fn new(spans: &'a [Span], bytes: &'a [u8]) -> Self {
        Self { spans, bytes }
    }

    /// The number of arguments, the name included.
    #[inline]
    pub fn len(self) -> usize {
        self.spans.len()
    }

    /// Whether nothing is left.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `index`; the name is at 0.
    #[inline]
    pub fn get(self, index: usize) -> Option<&'a [u8]> {
        self.spans.get(index).map(|span| span.of(self.bytes))
    }

    /// Walks over the arguments, the name included.
    #[inline]
    pub fn iter(self) -> Iter<'a> {
        Iter {
            spans: self.spans.iter(),
            bytes: self.bytes,
        }
    }

    /// The same request from the `count`-th argument on; empty if there are not so many.
    #[inline]
    #[must_use]
    pub fn skip(self, count: usize) -> Self {
        Self {
            spans: self.spans.get(count..).unwrap_or_default(),
            bytes: self.bytes,
        }
    }

    /// The first `count` arguments; all of them if there are not so many.
    #[inline]
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Self {
            spans: self.spans.get(..count).unwrap_or(self.spans),
            bytes: self.bytes,
        }
    }

    /// The lengths of all arguments together, in bytes. Linear in their number.
    pub fn byte_len(self) -> usize {
        self.spans.iter().map(|span| span.end - span.start).sum()
    }

    /// Its spans, the piece of the bytes that they lie in, and where that begins.
    #[inline]
    pub(crate) fn parts(self) -> (&'a [Span], &'a [u8], usize) {
        let start = self.spans.iter().map(|span| span.start).min();
        let end = self.spans.iter().map(|span| span.end).max();
        let (start, end) = (start.unwrap_or(0), end.unwrap_or(0));
        (self.spans, &self.bytes[start..end], start)
    }

    /// A copy that stands on its own and holds the arguments' bytes and nothing between them.
    pub fn to_owned(self) -> OwnedRequest {
        self.iter().collect()
    }
}

impl<'a> IntoIterator for Request<'a> {
    type Item = &'a [u8];
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(<[u8]>::escape_ascii).map(DisplayAsDebug))
            .finish()
    }
}

/// The arguments of a [`Request`], from either end.
#[derive(Clone)]
pub struct Iter<'a> {
    spans: slice::Iter<'a, Span>,
    bytes: &'a [u8],
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.spans.next().map(|span| span.of(self.bytes))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<&'a [u8]> {
        self.spans.nth(n).map(|span| span.of(self.bytes))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.spans.next_back().map(|span| span.of(self.bytes))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl FusedIterator for Iter<'_> {}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Request::new(self.spans.as_slice(), self.bytes).fmt(f)
    }
}

/// A command that stands on its own, such as one that waits in MULTI.
#[derive(Clone, Default)]
pub struct OwnedRequest {
    /// Invariant: every span lies within `bytes`.
    spans: Box<[Span]>,
    bytes: Box<[u8]>,
}

impl OwnedRequest {
    /// The request, borrowed from here.
    #[inline]
    pub fn as_request(&self) -> Request<'_> {
        Request::new(&self.spans, &self.bytes)
    }
}

impl<A: AsRef<[u8]>> FromIterator<A> for OwnedRequest {
    fn from_iter<I: IntoIterator<Item = A>>(args: I) -> Self {
        let args = args.into_iter();
        let mut spans = Vec::with_capacity(args.size_hint().0);
        let mut bytes = Vec::new();
        for arg in args {
            let start = bytes.len();
            bytes.extend_from_slice(arg.as_ref());
            spans.push(Span::new(start, bytes.len()));
        }
        Self {
            spans: spans.into_boxed_slice(),
            bytes: bytes.into_boxed_slice(),
        }
    }
}

impl fmt::Debug for OwnedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_request().fmt(f)
    }
}

/// Room in which one request after the other is put together, argument by argument.
#[derive(Default)]
pub struct RequestBuffer {
    /// Invariant: every span lies within `bytes`.
    spans: Vec<Span>,
    bytes: Vec<u8>,
}

impl RequestBuffer {
    /// Forgets the arguments, and keeps the room unless it is more than `bytes_max`.
    pub fn clear(&mut self, bytes_max: usize) {
        let bytes = self.bytes.capacity() + self.spans.capacity() * size_of::<Span>();
        if bytes > bytes_max {
            *self = Self::default();
        }
        self.spans.clear();
        self.bytes.clear();
    }

    /// Adds an argument: what `append` adds to the bytes that it is given.
    #[inline]
    pub fn push_with(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        append(&mut self.bytes);
        self.spans.push(Span::new(start, self.bytes.len()));
    }

    /// Adds an argument.
    #[inline]
    pub fn push(&mut self, arg: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(arg));
    }

    /// The request so far.
    #[inline]
    pub fn as_request(&self) -> Request<'_> {
        Request::new(&self.spans, &self.bytes)
    }
}

/// Where one argument lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Span {
    /// Invariant: `start <= end`.
    start: usize,
    end: usize,
}

impl Span {
    #[inline]
    pub(crate) fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// The same span in a buffer whose first `count` bytes were dropped.
    pub(crate) fn moved_back(self, count: usize) -> Self {
        Self::new(self.start - count, self.end - count)
    }

    /// The same span in a buffer where what was at `from` is at `to`.
    #[inline]
    pub(crate) fn moved(self, from: usize, to: usize) -> Self {
        Self::new(self.start - from + to, self.end - from + to)
    }

    #[inline]
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }
}

/// Shows escaped bytes between quotes, as `Debug` shows text.
struct DisplayAsDebug<T>(T);

impl<T: fmt::Display> fmt::Debug for DisplayAsDebug<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_reached_from_both_ends() {
        let owned: OwnedRequest = ["XADD", "key", "*"].iter().collect();
        let request = owned.as_request();

        assert_eq!(request.len(), 3);
        assert_eq!(request.byte_len(), 8);
        assert_eq!(request.get(1), Some(&b"key"[..]));
        assert_eq!(request.get(3), None);
        assert_eq!(request.iter().next_back(), Some(&b"*"[..]));
        assert_eq!(request.iter().skip(1).len(), 2);
        assert!(request.iter().rev().eq([&b"*"[..], b"key", b"XADD"]));
    }

    #[test]
    fn skipping_leaves_the_rest_or_nothing() {
        let owned: OwnedRequest = ["DEL", "a", "b\n"].iter().collect();
        let request = owned.as_request();

        assert!(request.skip(1).iter().eq([&b"a"[..], b"b\n"]));
        assert!(request.skip(3).is_empty());
        assert!(request.skip(4).is_empty());
        assert_eq!(
            format!("{:?}", request.skip(1).to_owned()),
            r#"["a", "b\n"]"#
        );
    }

    #[test]
    fn a_buffer_holds_one_request_after_the_other() {
        let mut buffer = RequestBuffer::default();
        buffer.push(b"GET");
        buffer.push_with(|bytes| bytes.extend_from_slice(b"key"));
        assert!(buffer.as_request().iter().eq([&b"GET"[..], b"key"]));

        buffer.clear(1_024);
        assert!(buffer.as_request().is_empty());
        buffer.push(&[b'x'; 2_000]);
        buffer.clear(1_024);
        assert_eq!(buffer.bytes.capacity(), 0);
        buffer.push(b"PING");
        assert!(buffer.as_request().iter().eq([b"PING"]));
    }
}
