//! How names, values and counts of fields are written in a node.

use super::Lead;
use super::Part;
use super::Plain;
use super::Text;
use crate::listpack_size;
use crate::pack::Packed;

/// Adds a name or a value to a node, and returns what it would take in the reference's encoding.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, text: &[u8]) -> usize {
    if may_be_integer(text) {
        return put_part(out, text);
    }
    put_bytes(out, text);
    listpack_size::text(text.len())
}

/// Whether a text begins like an integer. One that does not is none.
#[inline]
fn may_be_integer(text: &[u8]) -> bool {
    matches!(text, [b'0'] | [b'-' | b'1'..=b'9', ..])
}

/// As [`put`], for what may be an integer.
#[inline(never)]
fn put_part(out: &mut Vec<u8>, text: &[u8]) -> usize {
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
pub(super) fn take_plain<'a>(rest: &mut &'a [u8]) -> Plain<'a> {
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
pub(super) fn take_other<'a>(rest: &mut &'a [u8]) -> Plain<'a> {
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
pub(super) fn is_part(part: Part<'_>, text: &[u8]) -> bool {
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
pub(super) fn take_bytes(tail: &[u8], len: usize) -> (Part<'_>, &[u8]) {
    let (bytes, tail) = tail.split_at(len);
    (Part::Bytes(bytes), tail)
}

#[inline]
pub(super) fn take_middle(tag: u8, tail: &[u8]) -> (Part<'_>, &[u8]) {
    let (&low, tail) = tail.split_first().expect("a number has its low bits");
    let number = MIDDLE_FIRST + u16::from_be_bytes([tag - MIDDLE, low]);
    (Part::Int(number.into()), tail)
}

pub(super) fn take_wide(tag: u8, tail: &[u8]) -> (Part<'_>, &[u8]) {
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
pub(super) const I64_DIGITS_MAX: usize = 19;

pub(super) const TEXT_LEN_MAX: u8 = 0x7f;
pub(super) const SMALL: u8 = 0x80;
pub(super) const SMALL_LAST: u8 = 0xbf;
pub(super) const WIDE: u8 = 0xc0;
pub(super) const WIDE_LAST: u8 = 0xc7;
pub(super) const TEXT_LEN_16: u8 = 0xc8;
pub(super) const TEXT_LEN_32: u8 = 0xc9;
/// Stands for a value that is its template.
pub(crate) const AS_TEMPLATE: u8 = 0xca;
/// Stands before a value that is packed by its template.
pub(crate) const PACKED: u8 = 0xcb;
pub(super) const MIDDLE: u8 = 0xcc;
pub(super) const MIDDLE_FIRST: u16 = 64;
pub(super) const MIDDLE_MAX: u16 = MIDDLE_FIRST + u16::from_be_bytes([0xff - MIDDLE, 0xff]);
