//! Long texts that say almost the same, kept as what they have in common with one of them.
//!
//! Values under one name tend to be alike: JSON of one shape, lines of one log. A node that takes no more entries keeps
//! the long values of one entry as templates, and of the others what differs. Each value still reads by itself.
//!
//! ```text
//! value: length | bytes of steps | step, step ...
//! step:  literal length, bit 7 if a jump follows | copied length | jump | literal
//! ```
//!
//! A step adds its literal, then what is copied from the template. A place in the template moves along with both, and
//! by the jump (16 bits, little-endian, signed) before it copies. Other numbers are as [`fields::put_count`] has them.

use crate::fields;
use crate::fields::Lead;

/// A value that is made up of pieces of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed<'a> {
    len: usize,
    steps: &'a [u8],
    template: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Takes a packed value from the front of `rest`.
    pub(crate) fn take(rest: &mut &'a [u8], template: &'a [u8]) -> Self {
        let len = fields::take_count(rest);
        let steps_bytes = fields::take_count(rest);
        let (steps, tail) = rest.split_at(steps_bytes);
        *rest = tail;
        Self {
            len,
            steps,
            template,
        }
    }

    /// Returns the length of the value in bytes.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "only long values are packed")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Appends the value.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.reserve(self.len);
        self.each_piece(|piece| out.extend_from_slice(&piece.bytes[..piece.len]));
    }

    /// Gives the pieces of the value to `add`, one after the other.
    #[inline]
    pub fn each_piece(&self, mut add: impl FnMut(Lead<'a>)) {
        let mut steps = self.steps;
        let mut at = 0_usize;
        while let [literal, copied, tail @ ..] = steps {
            let literal_len = usize::from(literal & LITERAL_MAX);
            let (jump, tail) = match tail {
                [low, high, tail @ ..] if literal & HAS_JUMP != 0 => {
                    (i16::from_le_bytes([*low, *high]), tail)
                }
                _ => (0, tail),
            };
            add(Lead {
                bytes: tail,
                len: literal_len,
            });
            at = (at + literal_len).wrapping_add_signed(jump.into());
            if *copied > 0 {
                let len = usize::from(*copied);
                let bytes = &self.template[at..];
                add(Lead { bytes, len });
                at += len;
            }
            steps = &tail[literal_len..];
        }
    }
}

/// A long text that others are compared with, and where its pieces are.
#[derive(Debug)]
pub(crate) struct Template<'a> {
    text: &'a [u8],
    /// Where four bytes with this hash begin, plus one; zero if nowhere.
    places: [u16; PLACES],
}

impl<'a> Template<'a> {
    /// Makes a template of a text, unless it is too short or too long to be one.
    pub(crate) fn new(text: &'a [u8]) -> Option<Self> {
        if !(TEXT_MIN..=TEXT_MAX).contains(&text.len()) {
            return None;
        }
        let mut places = [0; PLACES];
        for (place, four) in (1_u16..).zip(text.windows(MATCH_MIN)) {
            places[hash(four)] = place;
        }
        Some(Self { text, places })
    }

    /// Appends a text in packed form, if that is shorter by a quarter.
    pub(crate) fn pack(&self, text: &[u8], out: &mut Vec<u8>, steps: &mut Vec<u8>) -> bool {
        if !(TEXT_MIN..=TEXT_MAX).contains(&text.len()) {
            return false;
        }
        steps.clear();
        let bytes_max = text.len() - text.len() / 4;
        let (mut at, mut literal_at, mut place) = (0, 0, 0);
        while at < text.len() {
            let along = place + (at - literal_at);
            let Some((from, len)) = self.find(&text[at..], along) else {
                at += 1;
                if steps.len() + (at - literal_at) > bytes_max {
                    return false;
                }
                continue;
            };
            put_step(steps, &text[literal_at..at], along, from, len);
            at += len;
            (literal_at, place) = (at, from + len);
            if steps.len() > bytes_max {
                return false;
            }
        }
        put_step(steps, &text[literal_at..], 0, 0, 0);
        if steps.len() > bytes_max {
            return false;
        }
        fields::put_count(out, text.len());
        fields::put_count(out, steps.len());
        out.extend_from_slice(steps);
        true
    }

    /// Finds the beginning of `text` in the template: at a place or anywhere. Returns where, and how much of it.
    fn find(&self, text: &[u8], along: usize) -> Option<(usize, usize)> {
        let at = |from: usize| {
            let len = common(text, self.text.get(from..)?);
            (len >= MATCH_MIN).then_some((from, len))
        };
        if let Some(found) = at(along) {
            return Some(found);
        }
        let place = self.places[hash(text.get(..MATCH_MIN)?)];
        at(usize::from(place.checked_sub(1)?))
    }
}

/// Counts the bytes that two texts begin with alike.
fn common(a: &[u8], b: &[u8]) -> usize {
    let mut len = 0;
    while let (Some(a), Some(b)) = (a[len..].first_chunk(), b[len..].first_chunk()) {
        let differing = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differing != 0 {
            return len + (differing.trailing_zeros() / u8::BITS) as usize;
        }
        len += size_of::<u64>();
    }
    let rest = a[len..].iter().zip(&b[len..]);
    len + rest.take_while(|(a, b)| a == b).count()
}

/// Adds steps that append a literal and copy a piece; `along` is where copying would go on without a jump.
fn put_step(steps: &mut Vec<u8>, literal: &[u8], along: usize, from: usize, len: usize) {
    if literal.is_empty() && len == 0 {
        return;
    }
    let mut pieces = literal.chunks(LITERAL_MAX.into()).peekable();
    let mut last: &[u8] = &[];
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            last = piece;
            break;
        }
        steps.extend([LITERAL_MAX, 0]);
        steps.extend_from_slice(piece);
    }
    let literal_len = low_byte(last.len());
    let copied = len.min(u8::MAX.into());
    if copied == 0 || from == along {
        steps.extend([literal_len, low_byte(copied)]);
    } else {
        steps.extend([literal_len | HAS_JUMP, low_byte(copied)]);
        let jump = i16::try_from(from.cast_signed() - along.cast_signed());
        let jump = jump.expect("a template is shorter than any jump is long");
        steps.extend(jump.to_le_bytes());
    }
    steps.extend_from_slice(last);
    let mut left = len - copied;
    while left > 0 {
        let copied = left.min(u8::MAX.into());
        steps.extend([0, low_byte(copied)]);
        left -= copied;
    }
}

fn hash(four: &[u8]) -> usize {
    let four = four
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four));
    (four.wrapping_mul(0x9e37_79b1) >> (u32::BITS - PLACES.ilog2())) as usize
}

fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

/// Shorter texts are kept as they are: they have little to win, and read faster.
pub(crate) const TEXT_MIN: usize = 64;
/// Longer ones do not share a node as a rule.
const TEXT_MAX: usize = 16 * 1_024;
/// Fewer bytes in common are not worth a step.
const MATCH_MIN: usize = 4;
/// How many pieces of a template are found again, if their hashes differ.
const PLACES: usize = 2_048;
const HAS_JUMP: u8 = 0x80;
const LITERAL_MAX: u8 = 0x7f;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Packs a text, unpacks it again, and returns how long it was packed.
    fn round_trip(template: &[u8], text: &[u8]) -> Option<usize> {
        let mut out = Vec::new();
        if !Template::new(template)?.pack(text, &mut out, &mut Vec::new()) {
            assert!(out.is_empty());
            return None;
        }
        let mut rest = out.as_slice();
        let packed = Packed::take(&mut rest, template);
        assert!(rest.is_empty());
        assert_eq!(packed.len(), text.len());
        let mut back = b"before".to_vec();
        packed.append_to(&mut back);
        assert_eq!(&back[6..], text);
        Some(out.len())
    }

    fn order(number: u64, name: &str) -> Vec<u8> {
        format!(
            r#"{{"order":{number},"name":"{name}","items":[{{"sku":"K-{number:04}","quantity":3}}],"currency":"EUR"}}"#
        )
        .into_bytes()
    }

    #[test]
    fn what_differs_is_all_that_is_kept() {
        let template = order(1_001, "somebody");

        assert!(round_trip(&template, &order(1_002, "somebody")).unwrap() < 24);
        assert!(round_trip(&template, &order(2_003, "somebody with a long name")).unwrap() < 60);
        assert_eq!(round_trip(&template, &[b'x'; 100]), None);
    }

    #[test]
    fn short_texts_are_left_alone() {
        assert_eq!(round_trip(&[b'x'; TEXT_MIN - 1], &[b'x'; TEXT_MIN]), None);
        assert_eq!(round_trip(&[b'x'; TEXT_MIN], &[b'x'; TEXT_MIN - 1]), None);
        assert!(round_trip(&[b'x'; TEXT_MIN], &[b'x'; TEXT_MIN]).is_some());
        assert_eq!(round_trip(&[b'x'; TEXT_MAX + 1], &[b'x'; TEXT_MIN]), None);
    }

    #[test]
    fn pieces_of_any_length_come_back() {
        let template: Vec<u8> = (0..TEXT_MAX)
            .map(|n| low_byte(n % 251) ^ low_byte(n >> 8))
            .collect();
        for len in [64, 254, 255, 256, 510, 511, 5_000, TEXT_MAX] {
            assert!(round_trip(&template, &template[..len]).is_some(), "{len}");
            assert!(
                round_trip(&template, &template[TEXT_MAX - len..]).is_some(),
                "{len}"
            );
        }
        for literal in [126, 127, 128, 254, 255, 300] {
            let template = &template[..1_000];
            let mut text = template.to_vec();
            text.splice(50..60, vec![b'-'; literal]);
            assert!(round_trip(template, &text).is_some(), "{literal}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(
            template in prop::collection::vec(0_u8..6, TEXT_MIN..400),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..9, 0_usize..200, 0_u8..9), 0..8),
        ) {
            let mut text = template.clone();
            for (at, cut, put, byte) in edits {
                let at = at.index(text.len() + 1);
                let end = text.len().min(at + cut);
                text.splice(at..end, vec![byte; put]);
            }
            round_trip(&template, &text);
        }
    }
}
