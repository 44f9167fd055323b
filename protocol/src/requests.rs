//! Several commands in one piece of memory.

use crate::request::Request;
use crate::request::Span;

/// Commands that stand on their own, in order, such as those that wait in MULTI.
///
/// They share their memory, so that another one takes none of its own as a rule.
#[derive(Clone, Debug, Default)]
pub struct OwnedRequests {
    /// Where the spans of each end.
    ends: Vec<usize>,
    /// Invariant: every span lies within `bytes`.
    spans: Vec<Span>,
    bytes: Vec<u8>,
}

impl OwnedRequests {
    /// Copies a command behind the others.
    ///
    /// It is copied in one piece, with the headers between its arguments: these take less time than a copy of each
    /// argument does.
    pub fn push(&mut self, request: Request<'_>) {
        let (spans, piece, piece_start) = request.parts();
        let to = self.bytes.len();
        self.bytes.extend_from_slice(piece);
        let moved = spans.iter().map(|span| span.moved(piece_start, to));
        self.spans.extend(moved);
        self.ends.push(self.spans.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All of them, in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Request<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let spans = &self.spans[std::mem::replace(&mut start, end)..end];
            Request::new(spans, &self.bytes)
        })
    }

    /// Forgets them, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.spans.clear();
        self.bytes.clear();
    }

    /// The memory that they take and that is kept for others, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.ends.capacity() * size_of::<usize>()
            + self.spans.capacity() * size_of::<Span>()
            + self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::OwnedRequests;
    use crate::request::OwnedRequest;

    #[test]
    fn commands_come_out_as_they_went_in() {
        let words: [&[&str]; 3] = [&["XADD", "s", "*"], &["PING"], &["ECHO", ""]];
        let mut requests = OwnedRequests::default();
        for words in words {
            let request: OwnedRequest = words.iter().collect();
            requests.push(request.as_request());
        }

        assert_eq!(requests.len(), 3);
        for (request, words) in requests.iter().zip(words) {
            assert!(request.iter().eq(words.iter().map(|word| word.as_bytes())));
        }
        let kept = requests.heap_bytes();
        requests.clear();
        assert!(requests.is_empty() && requests.iter().next().is_none());
        assert_eq!(requests.heap_bytes(), kept);
    }
}
