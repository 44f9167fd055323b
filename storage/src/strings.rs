//! String values.

use crate::fields::{Part, canonical_integer};
use crate::integer;
use crate::integer::Digits;
use crate::value::Encoding;

/// A string: bytes, or a number if its text is one in canonical form.
///
/// Which of them it is, and whether short bytes are *embedded*, can be seen with OBJECT ENCODING and
/// follows the reference: a string that once was too long to be embedded stays raw.
#[derive(Clone, Debug)]
pub struct StringValue {
    repr: Repr,
}

#[derive(Clone, Debug)]
enum Repr {
    Int(i64),
    Embedded(Box<[u8]>),
    Raw(Vec<u8>),
}

impl StringValue {
    /// Keeps bytes as they would be after SET.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        canonical_integer(bytes).map_or_else(|| Self::from_text(bytes), Self::from_integer)
    }

    /// Keeps a number.
    #[must_use]
    pub const fn from_integer(value: i64) -> Self {
        Self {
            repr: Repr::Int(value),
        }
    }

    /// Keeps bytes as bytes, even if they read like a number.
    pub(crate) fn from_text(bytes: &[u8]) -> Self {
        let repr = if fits_embedded(bytes.len(), 0, false) {
            Repr::Embedded(bytes.into())
        } else {
            Repr::Raw(bytes.to_vec())
        };
        Self { repr }
    }

    /// Returns `len` zero bytes, never embedded.
    pub(crate) fn zeros(len: usize) -> Self {
        Self::raw(vec![0; len])
    }

    /// Keeps bytes as they are, never embedded.
    pub(crate) const fn raw(bytes: Vec<u8>) -> Self {
        Self {
            repr: Repr::Raw(bytes),
        }
    }

    /// Returns the bytes, filled up with zeros to at least `len_min`, and whether they had to be.
    pub(crate) fn bytes_mut(&mut self, len_min: usize) -> (&mut [u8], bool) {
        let raw = self.as_raw_mut();
        let grows = raw.len() < len_min;
        if grows {
            reserve(raw, len_min - raw.len());
            raw.resize(len_min, 0);
        }
        (raw, grows)
    }

    /// Appends bytes and returns the new length.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> usize {
        let raw = self.as_raw_mut();
        reserve(raw, bytes.len());
        raw.extend_from_slice(bytes);
        raw.len()
    }

    /// Overwrites what begins at `offset`, after filling up with zeros to there, and returns the new length.
    pub(crate) fn set_range(&mut self, offset: usize, bytes: &[u8]) -> usize {
        let end = offset + bytes.len();
        let (raw, _) = self.bytes_mut(end);
        raw[offset..end].copy_from_slice(bytes);
        raw.len()
    }

    /// Takes an embedded string out of its place if that is too small with this key and deadline.
    pub(crate) fn settle(&mut self, key_len: usize, has_deadline: bool) {
        if let Repr::Embedded(bytes) = &mut self.repr
            && !fits_embedded(bytes.len(), key_header_bytes(key_len), has_deadline)
        {
            self.repr = Repr::Raw(std::mem::take(bytes).into_vec());
        }
    }

    /// Returns the bytes or the number.
    #[must_use]
    pub fn part(&self) -> Part<'_> {
        match &self.repr {
            Repr::Int(value) => Part::Int(*value),
            Repr::Embedded(bytes) => Part::Bytes(bytes),
            Repr::Raw(bytes) => Part::Bytes(bytes),
        }
    }

    /// Returns the bytes; those of a number are written to `digits` first.
    pub fn bytes_with<'a>(&'a self, digits: &'a mut Digits) -> &'a [u8] {
        match self.part() {
            Part::Bytes(bytes) => bytes,
            Part::Int(value) => digits.write(value),
        }
    }

    /// Returns the bytes from `start` to `end`, both counted from the end if negative, as GETRANGE does.
    pub fn range_with<'a>(&'a self, start: i64, end: i64, digits: &'a mut Digits) -> &'a [u8] {
        let bytes = self.bytes_with(digits);
        if start < 0 && end < 0 && start > end {
            return &[];
        }
        // Bounds before the first byte mean the first byte, also for the end.
        let from_start = |index: i64| {
            let len = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            let index = if index < 0 { len + index } else { index };
            usize::try_from(index).unwrap_or(0)
        };
        let end = from_start(end).saturating_add(1).min(bytes.len());
        bytes.get(from_start(start)..end).unwrap_or_default()
    }

    /// Returns the number if the text is one in canonical form.
    #[must_use]
    pub fn to_integer(&self) -> Option<i64> {
        match self.part() {
            Part::Int(value) => Some(value),
            Part::Bytes(bytes) => canonical_integer(bytes),
        }
    }

    /// Returns the length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.part() {
            Part::Bytes(bytes) => bytes.len(),
            Part::Int(value) => integer::digit_count(value),
        }
    }

    /// Returns whether there is not a single byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how this string is kept.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        match self.repr {
            Repr::Int(_) => Encoding::Int,
            Repr::Embedded(_) => Encoding::Embstr,
            Repr::Raw(_) => Encoding::Raw,
        }
    }

    /// Returns the memory held besides this value's own size.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        match &self.repr {
            Repr::Int(_) => 0,
            Repr::Embedded(bytes) => bytes.len(),
            Repr::Raw(bytes) => bytes.capacity(),
        }
    }

    fn as_raw_mut(&mut self) -> &mut Vec<u8> {
        match &mut self.repr {
            Repr::Raw(_) => {}
            Repr::Embedded(bytes) => self.repr = Repr::Raw(std::mem::take(bytes).into_vec()),
            Repr::Int(value) => {
                let text = Digits::default().write(*value).to_vec();
                self.repr = Repr::Raw(text);
            }
        }
        match &mut self.repr {
            Repr::Raw(bytes) => bytes,
            Repr::Int(_) | Repr::Embedded(_) => unreachable!("it was made raw above"),
        }
    }
}

impl PartialEq<[u8]> for StringValue {
    fn eq(&self, other: &[u8]) -> bool {
        self.bytes_with(&mut Digits::default()) == other
    }
}

/// Makes room for more bytes, with as much again to spare as there is, within a bound.
fn reserve(raw: &mut Vec<u8>, additional: usize) {
    if raw.capacity() - raw.len() < additional {
        let len = raw.len() + additional;
        raw.reserve_exact(additional + len.min(SPARE_BYTES_MAX));
    }
}

/// A string that grows gets this much room in advance at most, so that large ones are not held twice.
const SPARE_BYTES_MAX: usize = 1_024 * 1_024;

/// Returns whether the reference would keep a string of this length in one piece of memory with its key.
///
/// The piece has two cache lines and holds a header, the deadline if there is one, the key and the value.
const fn fits_embedded(len: usize, key_bytes: usize, has_deadline: bool) -> bool {
    let deadline_bytes = if has_deadline { 8 } else { 0 };
    let fixed = OBJECT_HEADER_BYTES + VALUE_HEADER_BYTES;
    len.saturating_add(key_bytes) <= EMBEDDED_BYTES_MAX - fixed - deadline_bytes
}

/// Returns what a key takes in that piece.
const fn key_header_bytes(key_len: usize) -> usize {
    let header = if key_len < 32 { 1 } else { 3 };
    // A byte says how long the header is, another one ends the text.
    key_len.saturating_add(header + 2)
}

const EMBEDDED_BYTES_MAX: usize = 128;
const OBJECT_HEADER_BYTES: usize = 8;
const VALUE_HEADER_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str, start: i64, end: i64) -> String {
        let value = StringValue::from_bytes(text.as_bytes());
        let mut digits = Digits::default();
        String::from_utf8(value.range_with(start, end, &mut digits).to_vec()).unwrap()
    }

    #[test]
    fn ranges_count_from_either_end() {
        assert_eq!(range("hello", 1, 3), "ell");
        assert_eq!(range("hello", -3, -1), "llo");
        assert_eq!(range("hello", -100, 100), "hello");
        assert_eq!(range("hello", 3, 1), "");
        assert_eq!(range("hello", -1, -3), "");
        assert_eq!(range("hello", 0, -100), "h");
        assert_eq!(range("hello", 5, 9), "");
        assert_eq!(range("", 0, -1), "");
        assert_eq!(range("-120", 0, 1), "-1");
        assert_eq!(range("hello", i64::MIN, i64::MAX), "hello");
    }

    #[test]
    fn encodings_follow_the_text_and_its_history() {
        let mut value = StringValue::from_bytes(b"12");
        assert_eq!(value.encoding(), Encoding::Int);
        assert_eq!(value.append(b""), 2);
        assert_eq!(value.encoding(), Encoding::Raw);
        assert_eq!(value.to_integer(), Some(12));
        assert_eq!(StringValue::from_bytes(b"012").encoding(), Encoding::Embstr);
    }

    #[test]
    fn the_key_and_the_deadline_take_room_from_an_embedded_string() {
        let settled = |len: usize, key_len, has_deadline| {
            let mut value = StringValue::from_text(&vec![b'x'; len]);
            value.settle(key_len, has_deadline);
            value.encoding()
        };
        assert_eq!(settled(112, 1, false), Encoding::Embstr);
        assert_eq!(settled(113, 1, false), Encoding::Raw);
        assert_eq!(settled(104, 1, true), Encoding::Embstr);
        assert_eq!(settled(105, 1, true), Encoding::Raw);
        assert_eq!(settled(82, 31, false), Encoding::Embstr);
        assert_eq!(settled(80, 32, false), Encoding::Raw);
        assert_eq!(settled(79, 32, false), Encoding::Embstr);
    }

    #[test]
    fn a_gap_is_filled_with_zeros() {
        let mut value = StringValue::from_bytes(b"ab");
        assert_eq!(value.set_range(4, b"xy"), 6);
        assert!(value == *b"ab\0\0xy".as_slice());
        assert_eq!(value.set_range(0, b"12"), 6);
        assert!(value == *b"12\0\0xy".as_slice());
    }
}
