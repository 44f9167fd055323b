//! How many bytes the reference would need for a node.
//!
//! Which entries share a node is visible (approximate trims remove whole nodes, XINFO counts them), and the reference
//! ends a node by the size of its own encoding, a listpack: a header, then elements, each an integer or a string
//! followed by its length once more, for walking back.

use crate::fields::Part;

/// Bytes of a listpack without elements: a header of six and an end mark.
pub(crate) const EMPTY: usize = 7;

/// Bytes of the element for a name or a value.
#[inline]
pub(crate) fn part(part: Part<'_>) -> usize {
    match part {
        Part::Bytes(bytes) => text(bytes.len()),
        Part::Int(number) => integer(number),
    }
}

/// Bytes of an integer element.
#[inline]
pub(crate) const fn integer(number: i64) -> usize {
    // One byte more than the encoding itself, for the length that follows it.
    match number {
        0..=127 => 2,
        -4_096..=4_095 => 3,
        -0x8000..=0x7fff => 4,
        -0x80_0000..=0x7f_ffff => 5,
        -0x8000_0000..=0x7fff_ffff => 6,
        _ => 10,
    }
}

/// Bytes of an integer element that holds a count.
#[inline]
pub(crate) fn count(count: usize) -> usize {
    integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Bytes of the element for a text of this length.
#[inline]
pub(crate) const fn text(len: usize) -> usize {
    let encoded = match len {
        0..64 => 1 + len,
        64..4_096 => 2 + len,
        _ => 5 + len,
    };
    encoded + back_length(encoded)
}

/// Bytes of the length after an element: seven bits of it in each.
#[inline]
const fn back_length(encoded: usize) -> usize {
    match encoded {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_narrowest_of_six_widths() {
        for (number, bytes) in [
            (0, 2),
            (127, 2),
            (128, 3),
            (-1, 3),
            (4_095, 3),
            (-4_096, 3),
            (4_096, 4),
            (-4_097, 4),
            (32_767, 4),
            (32_768, 5),
            (-8_388_608, 5),
            (8_388_608, 6),
            (-2_147_483_648, 6),
            (2_147_483_648, 10),
            (i64::MIN, 10),
        ] {
            assert_eq!(integer(number), bytes, "{number}");
        }
    }

    #[test]
    fn strings_pay_for_their_length_twice() {
        for (len, bytes) in [
            (0, 2),
            (63, 65),
            (64, 67),
            (125, 128),
            (126, 130),
            (4_095, 4_099),
            (4_096, 4_103),
            (16_378, 16_385),
            (16_379, 16_387),
        ] {
            assert_eq!(text(len), bytes, "{len}");
        }
    }
}
