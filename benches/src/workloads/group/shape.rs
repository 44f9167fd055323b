//! What the replies to a consumer look like, so that those that look the same need not be read again.

use std::ops::Range;

/// The shape of a reply to XACK and of one to XREADGROUP behind it: where the IDs of its entries are.
///
/// One read of so many entries is mostly as long as the next one, and what a consumer wants of it are the IDs.
pub(super) struct Shape {
    bytes: usize,
    /// What stands before the first ID, the reply to XACK included.
    head: Vec<u8>,
    /// What stands before each further ID, behind the entry before.
    lead: Vec<u8>,
    id_bytes: usize,
    /// From one ID to the next.
    stride: usize,
    entries: usize,
}

impl Shape {
    /// The shape of `replies` with IDs at these places; nothing if the entries are not alike.
    pub(super) fn of(replies: &[u8], ids: &[Range<usize>]) -> Option<Self> {
        let (first, second) = (ids.first()?, ids.get(1));
        let stride = second.map_or(0, |second| second.start - first.start);
        let is_alike = |(index, id): (usize, &Range<usize>)| {
            id.len() == first.len() && id.start == first.start + index * stride
        };
        if !ids.iter().enumerate().all(is_alike) {
            return None;
        }
        let head = replies[..first.start].to_vec();
        let lead_bytes = head.len() - head.iter().rposition(|byte| *byte == b'*')?;
        Some(Self {
            bytes: replies.len(),
            lead: head[head.len() - lead_bytes..].to_vec(),
            head,
            id_bytes: first.len(),
            stride,
            entries: ids.len(),
        })
    }

    /// Whether these replies have this shape: the same numbers of everything, at the same places.
    pub(super) fn fits(&self, replies: &[u8]) -> bool {
        replies.len() == self.bytes
            && replies.starts_with(&self.head)
            && replies.ends_with(b"\r\n")
            && self.places().all(|id| {
                replies[..id.start].ends_with(&self.lead) && replies[id.end..].starts_with(b"\r\n")
            })
    }

    /// Where the IDs are.
    pub(super) fn places(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (first, stride, len) = (self.head.len(), self.stride, self.id_bytes);
        (0..self.entries).map(move |index| {
            let start = first + index * stride;
            start..start + len
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLIES: &[u8] =
        b":2\r\n*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n\
        *2\r\n$3\r\n2-0\r\n*2\r\n$1\r\nf\r\n$1\r\nw\r\n";

    fn shape() -> Shape {
        let first = REPLIES.iter().position(|byte| *byte == b'-').unwrap() - 1;
        let second = REPLIES.iter().rposition(|byte| *byte == b'-').unwrap() - 1;
        Shape::of(REPLIES, &[first..first + 3, second..second + 3]).unwrap()
    }

    #[test]
    fn other_entries_of_one_shape_are_found_without_reading() {
        let others = String::from_utf8_lossy(REPLIES)
            .replace("1-0", "8-1")
            .replace("2-0", "9-1");
        assert!(shape().fits(others.as_bytes()));
        let ids: Vec<&str> = shape().places().map(|place| &others[place]).collect();
        assert_eq!(ids, ["8-1", "9-1"]);
    }

    #[test]
    fn replies_of_another_shape_do_not_fit() {
        let text = String::from_utf8_lossy(REPLIES);
        for (what, by) in [
            (":2", ":1"),
            ("$3\r\n2-0", "$4\r\n2-0"),
            ("2-0\r\n", "2-00\r"),
            ("w\r\n", "w\r"),
            ("w\r\n", "www"),
        ] {
            let other = text.replace(what, by);
            assert_ne!(other, text);
            assert!(!shape().fits(other.as_bytes()), "{what:?} became {by:?}");
        }
    }

    #[test]
    fn entries_that_are_not_alike_have_no_shape() {
        assert!(Shape::of(REPLIES, &[]).is_none());
        assert!(Shape::of(REPLIES, &[30..33, 60..64]).is_none());
        assert!(Shape::of(REPLIES, &[30..33, 40..43, 60..63]).is_none());
    }
}
