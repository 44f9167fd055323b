//! The reference's encoding of a node: a listpack.
//!
//! ```text
//! bytes (4, little-endian) | elements (2, likewise; ffff if there are as many or more) | element ... | ff
//!
//! element: one of these, and behind it how long that is, seven bits in each byte
//! 0nnnnnnn            the number 0 to 127        f1  number of 2 bytes      f3  of 4
//! 110nnnnn nnnnnnnn   a number of 13 bits        f2  of 3                   f4  of 8
//! 10llllll            text of up to 63 bytes     f0  text with a length of 4 bytes
//! 1110llll llllllll   text of up to 4095 bytes
//! ```
//!
//! The length behind an element has its high bits first, and a mark in all bytes but the first: it is read from its end.

use super::Damaged;
use crate::fields::Part;
use crate::fields::Text;
use crate::fields::canonical_integer;

/// The elements of a listpack, each of which is looked at before it is believed.
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    /// All up to the end mark, the header included.
    bytes: &'a [u8],
    at: usize,
    /// How many were taken.
    taken: usize,
}

impl<'a> Elements<'a> {
    /// Opens a listpack that is as long as it says.
    pub(crate) fn new(listpack: &'a [u8]) -> Result<Self, Damaged> {
        let [a, b, c, d, _, _, .., END] = listpack else {
            return Err(Damaged);
        };
        let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        if len != listpack.len() || len > BYTES_MAX {
            return Err(Damaged);
        }
        Ok(Self {
            bytes: &listpack[..len - 1],
            at: HEADER_BYTES,
            taken: 0,
        })
    }

    /// Takes the next element.
    pub(crate) fn take(&mut self) -> Result<Part<'a>, Damaged> {
        let rest = &self.bytes[self.at..];
        let (part, len) = element(rest)?;
        let after = len + back_length_bytes(len);
        // The length is read from its end, which may lead into the element itself.
        let back = rest.get(..after).ok_or(Damaged)?;
        if back_length(back) != Some(len) {
            return Err(Damaged);
        }
        self.at += after;
        self.taken += 1;
        Ok(part)
    }

    /// Takes the next element, which is to be a number.
    pub(crate) fn integer(&mut self) -> Result<i64, Damaged> {
        match self.take()? {
            Part::Int(number) => Ok(number),
            Part::Bytes(text) => canonical_integer(text).ok_or(Damaged),
        }
    }

    /// Takes the next element, which is to be a number of things.
    pub(crate) fn count(&mut self) -> Result<usize, Damaged> {
        usize::try_from(self.integer()?).map_err(|_| Damaged)
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Ends with the last element, whose number is to be that in the header.
    pub(crate) fn end(self) -> Result<(), Damaged> {
        let counted = usize::from(u16::from_le_bytes([self.bytes[4], self.bytes[5]]));
        let is_right = counted == COUNT_UNKNOWN || counted == self.taken;
        if self.is_at_end() && is_right {
            Ok(())
        } else {
            Err(Damaged)
        }
    }
}

/// Reads an element, and returns how long it is without the length behind it.
fn element(bytes: &[u8]) -> Result<(Part<'_>, usize), Damaged> {
    let (&tag, rest) = bytes.split_first().ok_or(Damaged)?;
    match tag {
        ..0x80 => Ok((Part::Int(i64::from(tag)), 1)),
        0x80..0xc0 => text(rest, usize::from(tag & 0x3f), 1),
        0xc0..0xe0 => {
            let low = *rest.first().ok_or(Damaged)?;
            // Thirteen bits with a sign, moved to the upper end and back.
            let number = i16::from_be_bytes([tag & 0x1f, low]) << 3 >> 3;
            Ok((Part::Int(number.into()), 2))
        }
        0xe0..0xf0 => {
            let (&low, rest) = rest.split_first().ok_or(Damaged)?;
            text(rest, usize::from(u16::from_be_bytes([tag & 0x0f, low])), 2)
        }
        TEXT_32 => {
            let (len, rest) = rest.split_first_chunk().ok_or(Damaged)?;
            text(rest, u32::from_le_bytes(*len) as usize, 5)
        }
        INT_16..=INT_64 => wide_integer(rest, WIDTHS[usize::from(tag - INT_16)]),
        _ => Err(Damaged),
    }
}

fn text(rest: &[u8], len: usize, head_bytes: usize) -> Result<(Part<'_>, usize), Damaged> {
    let text = rest.get(..len).ok_or(Damaged)?;
    Ok((Part::Bytes(text), head_bytes + len))
}

fn wide_integer(rest: &[u8], width: usize) -> Result<(Part<'_>, usize), Damaged> {
    let low = rest.get(..width).ok_or(Damaged)?;
    let is_negative = low.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut number = if is_negative { [0xff; 8] } else { [0; 8] };
    number[..width].copy_from_slice(low);
    Ok((Part::Int(i64::from_le_bytes(number)), 1 + width))
}

/// Reads a length from the end of these bytes.
fn back_length(bytes: &[u8]) -> Option<usize> {
    let mut len = 0;
    for (index, byte) in bytes.iter().rev().take(BACK_BYTES_MAX).enumerate() {
        len |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some(len);
        }
    }
    None
}

const fn back_length_bytes(len: usize) -> usize {
    match len {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    }
}

/// Appends a listpack to a payload.
#[derive(Debug)]
pub(crate) struct ListpackWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    count: usize,
}

impl<'a> ListpackWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        Self {
            out,
            start,
            count: 0,
        }
    }

    /// Appends a number.
    pub(crate) fn integer(&mut self, number: i64) {
        let start = self.out.len();
        if let Ok(small @ ..0x80) = u8::try_from(number) {
            self.out.push(small);
        } else if (-4_096..4_096).contains(&number) {
            let [high, low, ..] = (number << 51).to_be_bytes();
            // Thirteen bits from the upper end, with three in front of them for the tag.
            let bits = u16::from_be_bytes([high, low]) >> 3;
            self.out.extend_from_slice(&(0xc000 | bits).to_be_bytes());
        } else {
            let tag = match number {
                -0x8000..0x8000 => INT_16,
                -0x80_0000..0x80_0000 => INT_16 + 1,
                -0x8000_0000..0x8000_0000 => INT_16 + 2,
                _ => INT_64,
            };
            self.out.push(tag);
            let width = WIDTHS[usize::from(tag - INT_16)];
            self.out.extend_from_slice(&number.to_le_bytes()[..width]);
        }
        self.end_element(start);
    }

    /// Appends how many there are of something.
    pub(crate) fn count(&mut self, count: usize) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Appends a name.
    pub(crate) fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Int(number) => self.integer(number),
            Part::Bytes(bytes) => self.text(bytes.len(), |out| out.extend_from_slice(bytes)),
        }
    }

    /// Appends a value.
    pub(crate) fn value(&mut self, value: Text<'_>) {
        match value {
            Text::Part(part) => self.part(part),
            Text::Packed(packed) => self.text(packed.len(), |out| packed.append_to(out)),
        }
    }

    /// How long the listpack would be if it ended here.
    pub(crate) fn len(&self) -> usize {
        self.out.len() - self.start + 1
    }

    /// Ends the listpack.
    pub(crate) fn end(self) {
        self.out.push(END);
        let len = u32::try_from(self.out.len() - self.start).expect("a node is below a gigabyte");
        let count = u16::try_from(self.count).unwrap_or(u16::MAX);
        let header = &mut self.out[self.start..self.start + HEADER_BYTES];
        header[..4].copy_from_slice(&len.to_le_bytes());
        header[4..].copy_from_slice(&count.to_le_bytes());
    }

    fn text(&mut self, len: usize, append: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        match u16::try_from(len) {
            Ok(len @ ..0x40) => self.out.push(0x80 | len.to_le_bytes()[0]),
            Ok(len @ ..0x1000) => self.out.extend_from_slice(&(0xe000 | len).to_be_bytes()),
            _ => {
                let len = u32::try_from(len).expect("a node is below a gigabyte");
                self.out.push(TEXT_32);
                self.out.extend_from_slice(&len.to_le_bytes());
            }
        }
        append(self.out);
        self.end_element(start);
    }

    /// Appends how long the element is that began at `start`.
    fn end_element(&mut self, start: usize) {
        let len = self.out.len() - start;
        let bytes = back_length_bytes(len);
        for index in (0..bytes).rev() {
            let bits = (len >> (7 * index)).to_le_bytes()[0] & 0x7f;
            let mark = if index + 1 == bytes { 0 } else { 0x80 };
            self.out.push(bits | mark);
        }
        self.count += 1;
    }
}

/// How many bytes the four kinds of wide numbers have.
const WIDTHS: [usize; 4] = [2, 3, 4, 8];
const INT_16: u8 = 0xf1;
const INT_64: u8 = 0xf4;
const TEXT_32: u8 = 0xf0;
const END: u8 = 0xff;
const HEADER_BYTES: usize = 6;
const BACK_BYTES_MAX: usize = 5;
/// Stands in the header for a number of elements that has no room there.
const COUNT_UNKNOWN: usize = 0xffff;
/// The reference makes no listpack longer than this.
const BYTES_MAX: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::listpack_size;

    fn parts() -> impl Strategy<Value = Vec<Option<i64>>> {
        let number = (any::<i64>(), 0_u32..64).prop_map(|(n, shift)| Some(n >> shift));
        prop::collection::vec(prop_oneof![4 => number, 1 => Just(None)], 0..40)
    }

    proptest! {
        /// What is written is read again, and is as long as was reckoned.
        #[test]
        fn elements_come_back(numbers in parts(), text in prop::collection::vec(any::<u8>(), 0..5_000)) {
            let part = |number: &Option<i64>| number.map_or(Part::Bytes(&text), Part::Int);
            let mut out = vec![1, 2, 3];
            let mut writer = ListpackWriter::new(&mut out);
            numbers.iter().for_each(|number| writer.part(part(number)));
            let len = writer.len();
            writer.end();
            let reckoned: usize = numbers.iter().map(|number| listpack_size::part(part(number))).sum();
            prop_assert_eq!(len, reckoned + listpack_size::EMPTY);
            prop_assert_eq!(out.len() - 3, len);
            let mut elements = Elements::new(&out[3..]).unwrap();
            for number in &numbers {
                prop_assert_eq!(elements.take().unwrap(), part(number));
            }
            prop_assert!(elements.is_at_end());
            prop_assert!(elements.end().is_ok());
        }

        /// Whatever the bytes are, they are read to their end or refused.
        #[test]
        fn bytes_that_are_no_listpack_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(len) = bytes.first_mut() {
                *len = 60;
            }
            if let Ok(mut elements) = Elements::new(&bytes) {
                while elements.take().is_ok() {}
            }
        }
    }

    #[test]
    fn a_listpack_is_refused_that_is_not_as_long_or_as_many_as_it_says() {
        let mut good = Vec::new();
        let mut writer = ListpackWriter::new(&mut good);
        writer.integer(1_000_000);
        writer.end();
        assert_eq!(good, [12, 0, 0, 0, 1, 0, 0xf2, 0x40, 0x42, 0x0f, 4, 0xff]);
        for (at, byte) in [
            (0, 13),
            (4, 2),
            (6, 0xf5),
            (6, 0xf3),
            (10, 5),
            (10, 0x84),
            (11, 0),
        ] {
            let mut bad = good.clone();
            bad[at] = byte;
            let read = Elements::new(&bad).and_then(|mut elements| {
                elements.take()?;
                elements.end()
            });
            assert_eq!(read, Err(Damaged), "{at} {byte}");
        }
    }
}
