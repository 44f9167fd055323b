//! Names and values of an entry, and how they lie in a node.
//!
//! Each is a tag and what belongs to it. The tag is the length of a short text, a small number itself, or says how many
//! bytes of a number or of a length follow. Numbers and lengths are little-endian.
//!
//! ```text
//! 00..=7f  text of 0..=127 bytes      c0..=c7  number in 1..=8 bytes, sign included
//! 80..=bf  the number 0..=63          c8, c9   text with its length in 2, 4 bytes
//! cc..=ff  the number 64..=13375, its high bits in the tag and the low eight behind it
//! ```
//!
//! Where there are templates of values, two more tags are among those of values: `ca` for what the template is, and `cb`
//! for a text that is packed by it.

use crate::listpack_size;
use crate::pack::Packed;

/// A name or a value: text that is a canonical 64-bit integer is kept as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The bytes as they came. They do not look like an integer.
    Bytes(&'a [u8]),
    /// A number whose decimal digits are the bytes that came.
    Int(i64),
}

impl<'a> Part<'a> {
    #[inline]
    fn new(text: &'a [u8]) -> Self {
        canonical_integer(text).map_or(Self::Bytes(text), Self::Int)
    }
}

/// A value of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// In one piece.
    Part(Part<'a>),
    /// In pieces.
    Packed(Packed<'a>),
}

/// A name or a value as it lies in a node, which takes the least time to copy.
#[derive(Clone, Copy, Debug)]
pub enum Kept<'a> {
    /// In one piece.
    Plain(Plain<'a>),
    /// In pieces.
    Packed(Packed<'a>),
}

/// As [`Part`], with what lies behind it.
#[derive(Clone, Copy, Debug)]
pub enum Plain<'a> {
    /// The bytes as they came. They do not look like an integer.
    Bytes(Lead<'a>),
    /// A number whose decimal digits are the bytes that came.
    Int(i64),
}

/// The front of some bytes. What lies behind means nothing, but who copies may read it.
#[derive(Clone, Copy, Debug)]
pub struct Lead<'a> {
    /// All bytes.
    pub bytes: &'a [u8],
    /// How many of them are meant.
    pub len: usize,
}

impl Plain<'_> {
    /// Returns how many bytes it has if it is a text, and none for a number.
    #[inline]
    #[must_use]
    pub const fn text_bytes(&self) -> usize {
        match self {
            Self::Bytes(lead) => lead.len,
            Self::Int(_) => 0,
        }
    }
}

impl<'a> From<Part<'a>> for Plain<'a> {
    #[inline]
    fn from(part: Part<'a>) -> Self {
        match part {
            Part::Bytes(bytes) => Self::Bytes(Lead {
                bytes,
                len: bytes.len(),
            }),
            Part::Int(number) => Self::Int(number),
        }
    }
}

impl<'a> From<Text<'a>> for Kept<'a> {
    #[inline]
    fn from(text: Text<'a>) -> Self {
        match text {
            Text::Part(part) => Self::Plain(part.into()),
            Text::Packed(packed) => Self::Packed(packed),
        }
    }
}

/// Walks over the fields of an entry; see [`crate::Entry::fields`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    /// The names that the node shares among its entries, or none when they lie between the values.
    names: Option<&'a [u8]>,
    /// The values that others may be packed by; empty where none is.
    templates: &'a [u8],
    body: &'a [u8],
    left: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) const fn new(
        names: Option<&'a [u8]>,
        templates: &'a [u8],
        body: &'a [u8],
        count: usize,
    ) -> Self {
        Self {
            names,
            templates,
            body,
            left: count,
        }
    }
}

/// Values that a node keeps once for many entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Templates<'a> {
    /// One of each name, and what follows them; empty if there are none.
    pub(crate) bytes: &'a [u8],
    /// How many bytes they have.
    pub(crate) len: usize,
    /// Whether there are values that are pieces of them. If not, the others may be the same.
    pub(crate) has_pieces: bool,
}

impl Templates<'_> {
    pub(crate) const NONE: Self = Self {
        bytes: &[],
        len: 0,
        has_pieces: false,
    };
}

/// Walks over names, or over values none of which is in pieces; see [`crate::Entry::plain_values`].
#[derive(Clone, Debug)]
pub struct PlainValues<'a> {
    body: &'a [u8],
    bytes_max: usize,
    left: usize,
}

impl<'a> PlainValues<'a> {
    #[inline]
    pub(crate) const fn new(body: &'a [u8], bytes_max: usize, count: usize) -> Self {
        Self {
            body,
            bytes_max,
            left: count,
        }
    }

    /// Returns as many bytes as all texts do not exceed together, templates among them, and numbers not counted.
    #[inline]
    #[must_use]
    pub const fn text_bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Takes the next value if it begins with this tag, and returns its text, of [`Tag::text_len`] bytes, with what lies
    /// behind.
    #[inline(always)]
    #[must_use]
    pub fn next_tagged(&mut self, tag: Tag) -> Option<&'a [u8]> {
        let (first, tail) = self.body.split_first()?;
        if *first != tag.tag {
            return None;
        }
        self.body = &tail[tag.text_len()..];
        self.left = self.left.saturating_sub(1);
        Some(tail)
    }
}

/// What some values begin with in a node.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    tag: u8,
    text_len: u8,
}

impl Tag {
    /// Stands for the template.
    pub const TEMPLATE: Self = Self {
        tag: AS_TEMPLATE,
        text_len: 0,
    };

    /// The tag of texts of so many bytes, if these are few.
    #[inline]
    #[must_use]
    pub fn of_text(len: usize) -> Option<Self> {
        let tag = u8::try_from(len).ok().filter(|&tag| tag <= TEXT_LEN_MAX)?;
        Some(Self { tag, text_len: tag })
    }

    /// How many bytes of text follow.
    #[inline]
    #[must_use]
    pub const fn text_len(self) -> usize {
        self.text_len as usize
    }
}

impl<'a> Iterator for PlainValues<'a> {
    /// Nothing stands for what the template is; see [`crate::Entry::template`].
    type Item = Option<Plain<'a>>;

    // A few instructions, twice as many if they are called.
    #[inline(always)]
    fn next(&mut self) -> Option<Option<Plain<'a>>> {
        self.left = self.left.checked_sub(1)?;
        Some(match self.body.split_first() {
            Some((&tag, tail)) if tag <= TEXT_LEN_MAX => {
                let len = usize::from(tag);
                self.body = &tail[len..];
                Some(Plain::Bytes(Lead { bytes: tail, len }))
            }
            Some((&AS_TEMPLATE, tail)) => {
                self.body = tail;
                None
            }
            _ => Some(take_other(&mut self.body)),
        })
    }
}

impl<'a> Fields<'a> {
    /// Takes the next field, for who copies.
    #[inline]
    pub(crate) fn next_kept(&mut self) -> Option<(Plain<'a>, Kept<'a>)> {
        self.left = self.left.checked_sub(1)?;
        let name = take_plain(self.names.as_mut().unwrap_or(&mut self.body));
        let value = if self.templates.is_empty() {
            Kept::Plain(take_plain(&mut self.body))
        } else {
            let template = take(&mut self.templates);
            take_by(&mut self.body, template).into()
        };
        Some((name, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Part<'a>, Text<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let name = take(self.names.as_mut().unwrap_or(&mut self.body));
        let value = if self.templates.is_empty() {
            Text::Part(take(&mut self.body))
        } else {
            let template = take(&mut self.templates);
            take_by(&mut self.body, template)
        };
        Some((name, value))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Fields<'_> {}

/// Adds a name or a value to a node, and returns what it would take in the reference's encoding.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, text: &[u8]) -> usize {
    let part = Part::new(text);
    match part {
        Part::Bytes(bytes) => put_bytes(out, bytes),
        Part::Int(number) => put_integer(out, number),
    }
    listpack_size::part(part)
}

/// Takes a name or a value from the front of what [`put`] wrote.
#[inline]
pub(crate) fn take<'a>(rest: &mut &'a [u8]) -> Part<'a> {
    let (&tag, tail) = rest.split_first().expect("an entry has all its parts");
    let (part, tail) = match tag {
        0..=TEXT_LEN_MAX => take_bytes(tail, usize::from(tag)),
        SMALL..=SMALL_LAST => (Part::Int(i64::from(tag - SMALL)), tail),
        MIDDLE.. => take_middle(tag, tail),
        _ => take_wide(tag, tail),
    };
    *rest = tail;
    part
}

/// As [`take`], for who copies.
#[inline(always)]
fn take_plain<'a>(rest: &mut &'a [u8]) -> Plain<'a> {
    match rest.split_first() {
        Some((&tag, tail)) if tag <= TEXT_LEN_MAX => {
            let len = usize::from(tag);
            *rest = &tail[len..];
            Plain::Bytes(Lead { bytes: tail, len })
        }
        _ => take_other(rest),
    }
}

#[inline(never)]
fn take_other<'a>(rest: &mut &'a [u8]) -> Plain<'a> {
    take(rest).into()
}

/// Takes a value that may be packed by a template.
pub(crate) fn take_by<'a>(rest: &mut &'a [u8], template: Part<'a>) -> Text<'a> {
    match (rest.split_first(), template) {
        (Some((&AS_TEMPLATE, tail)), _) => {
            *rest = tail;
            Text::Part(template)
        }
        (Some((&PACKED, tail)), Part::Bytes(text)) => {
            *rest = tail;
            Text::Packed(Packed::take(rest, text))
        }
        _ => Text::Part(take(rest)),
    }
}

/// Whether the shared names are those of these fields (name, value, name, value ...), which are as many.
#[inline]
pub(crate) fn have_names<'a>(mut fields: impl Iterator<Item = &'a [u8]>, mut names: &[u8]) -> bool {
    while let (Some(name), Some(_)) = (fields.next(), fields.next()) {
        match names.split_first() {
            // A text that is kept as one looks like no number.
            Some((&tag, tail)) if tag <= TEXT_LEN_MAX => {
                let (shared, rest) = tail.split_at(usize::from(tag));
                names = rest;
                if shared != name {
                    return false;
                }
            }
            _ => {
                if !is_part(take(&mut names), name) {
                    return false;
                }
            }
        }
    }
    true
}

/// Whether this is how a text is kept.
#[inline(never)]
fn is_part(part: Part<'_>, text: &[u8]) -> bool {
    match part {
        Part::Bytes(bytes) => bytes == text,
        Part::Int(number) => canonical_integer(text) == Some(number),
    }
}

/// Adds a count of fields: seven bits in each byte, the low ones first, all but the last byte marked.
pub(crate) fn put_count(out: &mut Vec<u8>, mut count: usize) {
    while count >= 0x80 {
        out.push(count.to_le_bytes()[0] | 0x80);
        count >>= 7;
    }
    out.push(count.to_le_bytes()[0]);
}

/// Takes a count of fields from the front of what [`put_count`] wrote.
#[inline]
pub(crate) fn take_count(rest: &mut &[u8]) -> usize {
    let mut count = 0;
    let mut shift = 0;
    while let Some((&byte, tail)) = rest.split_first() {
        *rest = tail;
        count |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    count
}

/// The most bytes that a name or a value takes beside its text, and those that a number takes for a moment.
pub(crate) const OVERHEAD_MAX: usize = 9;

#[inline]
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if let Some(tag) = u8::try_from(bytes.len())
        .ok()
        .filter(|len| *len <= TEXT_LEN_MAX)
    {
        out.push(tag);
    } else if let Ok(len) = u16::try_from(bytes.len()) {
        out.push(TEXT_LEN_16);
        out.extend_from_slice(&len.to_le_bytes());
    } else {
        let len = u32::try_from(bytes.len()).expect("the caller keeps an entry below a gigabyte");
        out.push(TEXT_LEN_32);
        out.extend_from_slice(&len.to_le_bytes());
    }
    out.extend_from_slice(bytes);
}

#[inline]
fn put_integer(out: &mut Vec<u8>, number: i64) {
    match u16::try_from(number) {
        Ok(number) if number < MIDDLE_FIRST => out.push(SMALL + number.to_be_bytes()[1]),
        Ok(number) if number <= MIDDLE_MAX => {
            let [high, low] = (number - MIDDLE_FIRST).to_be_bytes();
            out.extend_from_slice(&[MIDDLE + high, low]);
        }
        _ => put_wide(out, number),
    }
}

fn put_wide(out: &mut Vec<u8>, number: i64) {
    // A sign bit and the bits that differ from it.
    let bits = 65 - (number ^ (number >> 63)).leading_zeros();
    let width = bits.div_ceil(8);
    out.push(WIDE + width.to_le_bytes()[0] - 1);
    let end = out.len() + width as usize;
    // Storing all eight and cutting some off is faster than copying a number of them.
    out.extend_from_slice(&number.to_le_bytes());
    out.truncate(end);
}

#[inline]
fn take_bytes(tail: &[u8], len: usize) -> (Part<'_>, &[u8]) {
    let (bytes, tail) = tail.split_at(len);
    (Part::Bytes(bytes), tail)
}

#[inline]
fn take_middle(tag: u8, tail: &[u8]) -> (Part<'_>, &[u8]) {
    let (&low, tail) = tail.split_first().expect("a number has its low bits");
    let number = MIDDLE_FIRST + u16::from_be_bytes([tag - MIDDLE, low]);
    (Part::Int(number.into()), tail)
}

fn take_wide(tag: u8, tail: &[u8]) -> (Part<'_>, &[u8]) {
    match tag {
        WIDE..=WIDE_LAST => {
            let (bytes, tail) = tail.split_at(usize::from(tag - WIDE) + 1);
            let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            let mut number = if negative { [0xff; 8] } else { [0; 8] };
            number[..bytes.len()].copy_from_slice(bytes);
            (Part::Int(i64::from_le_bytes(number)), tail)
        }
        TEXT_LEN_16 => {
            let (len, tail) = tail.split_first_chunk().expect("a length has two bytes");
            take_bytes(tail, usize::from(u16::from_le_bytes(*len)))
        }
        _ => {
            debug_assert_eq!(tag, TEXT_LEN_32, "no other tag is written");
            let (len, tail) = tail.split_first_chunk().expect("a length has four bytes");
            take_bytes(tail, u32::from_le_bytes(*len) as usize)
        }
    }
}

/// Reads text that is exactly what the number prints as: no plus sign, no leading zero, no `-0`.
#[inline]
pub(crate) fn canonical_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'0'] => return Some(0),
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if !matches!(digits, [b'1'..=b'9', ..]) || digits.len() > I64_DIGITS_MAX {
        return None;
    }
    let mut magnitude = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative {
        0_i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    }
}

/// As many digits fit into 64 bits whatever they are.
const I64_DIGITS_MAX: usize = 19;

const TEXT_LEN_MAX: u8 = 0x7f;
const SMALL: u8 = 0x80;
const SMALL_LAST: u8 = 0xbf;
const WIDE: u8 = 0xc0;
const WIDE_LAST: u8 = 0xc7;
const TEXT_LEN_16: u8 = 0xc8;
const TEXT_LEN_32: u8 = 0xc9;
/// Stands for a value that is its template.
pub(crate) const AS_TEMPLATE: u8 = 0xca;
/// Stands before a value that is packed by its template.
pub(crate) const PACKED: u8 = 0xcb;
const MIDDLE: u8 = 0xcc;
const MIDDLE_FIRST: u16 = 64;
const MIDDLE_MAX: u16 = MIDDLE_FIRST + u16::from_be_bytes([0xff - MIDDLE, 0xff]);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(text: &[u8]) -> (Vec<u8>, usize) {
        let mut out = Vec::new();
        put(&mut out, text);
        let mut rest = out.as_slice();
        let back = match take(&mut rest) {
            Part::Bytes(bytes) => bytes.to_vec(),
            Part::Int(number) => number.to_string().into_bytes(),
        };
        assert!(rest.is_empty());
        assert!(have_names([text, b"value"].into_iter(), &out));
        assert!(!have_names(
            [b"other".as_slice(), b"value"].into_iter(),
            &out
        ));
        (back, out.len())
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        for (number, bytes) in [
            (0, 1),
            (63, 1),
            (64, 2),
            (999, 2),
            (13_375, 2),
            (13_376, 3),
            (-1, 2),
            (-128, 2),
            (-129, 3),
            (1_700_000_000_000, 7),
            (i64::MAX, 9),
            (i64::MIN, 9),
        ] {
            let text = number.to_string().into_bytes();
            assert_eq!(round_trip(&text), (text, bytes), "{number}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_keeps_its_bytes() {
        for text in [
            "",
            "-",
            "+1",
            "01",
            "-0",
            "-01",
            "00",
            "1 ",
            " 1",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "18446744073709551617",
        ] {
            assert_eq!(canonical_integer(text.as_bytes()), None, "{text:?}");
            assert_eq!(round_trip(text.as_bytes()).0, text.as_bytes());
        }
    }

    #[test]
    fn texts_of_any_length_come_back() {
        for len in [0, 1, 127, 128, 65_535, 65_536, 100_000] {
            let text = vec![b'x'; len];
            assert_eq!(round_trip(&text).0, text, "{len}");
        }
    }

    #[test]
    fn values_of_a_tag_are_taken_and_others_stay() {
        let mut body = Vec::new();
        put(&mut body, b"abc");
        body.push(AS_TEMPLATE);
        put(&mut body, b"7");
        let mut values = PlainValues::new(&body, body.len(), 3);
        let [three, four] = [3, 4].map(|len| Tag::of_text(len).unwrap());
        assert_eq!(values.next_tagged(four), None);
        assert_eq!(values.next_tagged(Tag::TEMPLATE), None);
        let text = values.next_tagged(three).unwrap();
        assert_eq!(&text[..three.text_len()], b"abc");
        assert!(values.next_tagged(Tag::TEMPLATE).is_some());
        assert!(matches!(values.next(), Some(Some(Plain::Int(7)))));
        assert!(values.next().is_none());
        assert!(Tag::of_text(128).is_none());
    }

    #[test]
    fn counts_of_any_size_come_back() {
        for count in [0, 1, 127, 128, 16_383, 16_384, 1 << 31] {
            let mut out = Vec::new();
            put_count(&mut out, count);
            assert_eq!(take_count(&mut out.as_slice()), count);
        }
    }

    proptest! {
        #[test]
        fn every_number_comes_back(number: i64, shift in 0_u32..64) {
            let text = (number >> shift).to_string().into_bytes();
            let mut out = Vec::new();
            put(&mut out, &text);
            prop_assert_eq!(take(&mut out.as_slice()), Part::Int(number >> shift));
        }

        #[test]
        fn every_text_comes_back(text in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(&round_trip(&text).0, &text);
        }
    }
}
