//! Bits of a string, the first being the highest of the first byte; and numbers made of some of them.

use std::ops::RangeInclusive;

/// How strings are combined, bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperation {
    /// Set where all are.
    And,
    /// Set where one is.
    Or,
    /// Set where an odd number is.
    Xor,
    /// Set where the only one is not.
    Not,
}

impl BitOperation {
    /// Combines what there is so far with one more string; the shorter of them counts as followed by zeros.
    pub(crate) fn combine(self, result: &mut Vec<u8>, with: &[u8]) {
        if result.len() < with.len() {
            result.resize(with.len(), 0);
        }
        let (both, beyond) = result.split_at_mut(with.len());
        for (byte, with) in both.iter_mut().zip(with) {
            match self {
                Self::And => *byte &= with,
                Self::Or => *byte |= with,
                Self::Xor => *byte ^= with,
                Self::Not => *byte = !with,
            }
        }
        if self == Self::And {
            beyond.fill(0);
        }
    }
}

/// Returns the bit at a position; beyond the end all are clear.
#[must_use]
pub fn bit_at(bytes: &[u8], position: u64) -> bool {
    let byte = usize::try_from(position / 8).ok();
    let byte = byte.and_then(|index| bytes.get(index));
    byte.is_some_and(|byte| byte & mask(position) != 0)
}

/// Sets or clears the bit at a position that is there, and returns what it was.
pub(crate) fn replace_bit(bytes: &mut [u8], position: usize, bit: bool) -> bool {
    let byte = &mut bytes[position / 8];
    let mask = mask(position as u64);
    let was = *byte & mask != 0;
    if bit {
        *byte |= mask;
    } else {
        *byte &= !mask;
    }
    was
}

/// Counts the bits that are set in a range of positions, all of which are there.
#[must_use]
pub fn count_bits(bytes: &[u8], range: RangeInclusive<usize>) -> u64 {
    let mut count = 0;
    for_bytes(bytes, range, |_, byte, within| {
        count += u64::from((byte & within).count_ones());
        true
    });
    count
}

/// Finds the first bit that is like this in a range of positions, all of which are there.
#[must_use]
pub fn find_bit(bytes: &[u8], bit: bool, range: RangeInclusive<usize>) -> Option<usize> {
    let mut found = None;
    for_bytes(bytes, range, |index, byte, within| {
        let wanted = if bit { byte } else { !byte } & within;
        if wanted != 0 {
            found = Some(index * 8 + wanted.leading_zeros() as usize);
        }
        found.is_none()
    });
    found
}

/// Visits the bytes of a range of bits, with a mask of the bits that belong to it, until told to stop.
fn for_bytes(
    bytes: &[u8],
    range: RangeInclusive<usize>,
    mut visit: impl FnMut(usize, u8, u8) -> bool,
) {
    let (first, last) = (*range.start(), *range.end());
    for (index, byte) in bytes.iter().enumerate().take(last / 8 + 1).skip(first / 8) {
        let mut within = 0xFF;
        if index == first / 8 {
            within &= 0xFF >> (first % 8);
        }
        if index == last / 8 {
            within &= 0xFF << (7 - last % 8);
        }
        if !visit(index, *byte, within) {
            return;
        }
    }
}

const fn mask(position: u64) -> u8 {
    0x80 >> (position % 8)
}

/// A number among the bits of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// The position of its highest bit.
    pub offset: u64,
    /// How many bits it has: 1 to 64, or to 63 if it has no sign.
    pub width: u32,
    /// Whether the highest bit is a sign.
    pub is_signed: bool,
}

/// What is done to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitFieldOperation {
    /// It is read.
    Get,
    /// It is replaced, and the old one is the result.
    Set(i64, BitOverflow),
    /// Something is added, and the sum is the result.
    Add(i64, BitOverflow),
}

/// What becomes of a number that its bits cannot hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitOverflow {
    /// Its higher bits are cut off.
    #[default]
    Wrap,
    /// It becomes the greatest or least that they can hold.
    Saturate,
    /// It is not written, and there is no result.
    Fail,
}

/// The bits cannot hold a number; on which side, the reference's arithmetic says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Greatest,
    Least,
}

impl BitFieldOperation {
    /// Returns whether this may change the string.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Get)
    }
}

impl BitField {
    /// Returns the position of its lowest bit.
    #[must_use]
    pub const fn last(self) -> u64 {
        self.offset + self.width as u64 - 1
    }

    /// Reads the number; beyond the end all bits are clear.
    #[must_use]
    pub fn read(self, bytes: &[u8]) -> i64 {
        let mut value: u64 = 0;
        for position in self.offset..=self.last() {
            value = value << 1 | u64::from(bit_at(bytes, position));
        }
        self.sign_extended(value)
    }

    /// Applies an operation to a string that has all of the bits. Returns the result, and whether
    /// the number is another one now.
    pub(crate) fn apply(
        self,
        operation: BitFieldOperation,
        bytes: &mut [u8],
    ) -> (Option<i64>, bool) {
        let old = self.read(bytes);
        let (base, by, overflow) = match operation {
            BitFieldOperation::Get => return (Some(old), false),
            BitFieldOperation::Set(value, overflow) => (value, 0, overflow),
            BitFieldOperation::Add(by, overflow) => (old, by, overflow),
        };
        let Some(new) = self.sum(base, by, overflow) else {
            return (None, false);
        };
        self.write(bytes, new);
        let is_add = matches!(operation, BitFieldOperation::Add(..));
        (Some(if is_add { new } else { old }), new != old)
    }

    fn write(self, bytes: &mut [u8], value: i64) {
        for index in 0..self.width {
            let position = usize::try_from(self.offset).expect("the bits are there");
            let bit = value >> (self.width - 1 - index) & 1 != 0;
            replace_bit(bytes, position + index as usize, bit);
        }
    }

    /// Adds within the width, or `None` if the sum does not fit and must.
    fn sum(self, base: i64, by: i64, overflow: BitOverflow) -> Option<i64> {
        let wrapped = base.wrapping_add(by);
        let beyond = if self.is_signed {
            self.beyond_signed(base, by)
        } else {
            self.beyond_unsigned(base, by)
        };
        match (beyond, overflow) {
            (None, _) => Some(wrapped),
            (Some(_), BitOverflow::Fail) => None,
            (Some(_), BitOverflow::Wrap) => Some(self.cut(wrapped)),
            (Some(Beyond::Greatest), BitOverflow::Saturate) => Some(self.greatest()),
            (Some(Beyond::Least), BitOverflow::Saturate) => Some(self.least()),
        }
    }

    /// The difference to the greatest number wraps around in 64 bits, as in the reference: a value that is set
    /// far below the least one counts as too great.
    fn beyond_signed(self, base: i64, by: i64) -> Option<Beyond> {
        let (greatest, least) = (self.greatest(), self.least());
        let is_narrow = self.width < 64;
        let up_max = greatest.wrapping_sub(base);
        let down_max = least.wrapping_sub(base);
        if base > greatest || (is_narrow || (base >= 0 && by > 0)) && by > up_max {
            Some(Beyond::Greatest)
        } else if base < least || (is_narrow || (base < 0 && by < 0)) && by < down_max {
            Some(Beyond::Least)
        } else {
            None
        }
    }

    /// A negative value that is set counts as too great, since it is one without its sign.
    fn beyond_unsigned(self, base: i64, by: i64) -> Option<Beyond> {
        let greatest = self.greatest();
        if base < 0 || base > greatest || by > 0 && by > greatest - base {
            Some(Beyond::Greatest)
        } else if by < 0 && by < -base {
            Some(Beyond::Least)
        } else {
            None
        }
    }

    const fn greatest(self) -> i64 {
        let value_bits = if self.is_signed {
            self.width - 1
        } else {
            self.width
        };
        // At most 63 bits.
        ((1_u64 << value_bits) - 1).cast_signed()
    }

    const fn least(self) -> i64 {
        if self.is_signed {
            -self.greatest() - 1
        } else {
            0
        }
    }

    const fn cut(self, value: i64) -> i64 {
        self.sign_extended(value.cast_unsigned())
    }

    const fn sign_extended(self, value: u64) -> i64 {
        let unused = 64 - self.width;
        let high = value << unused;
        if self.is_signed {
            high.cast_signed() >> unused
        } else {
            (high >> unused).cast_signed()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: &[u8] = &[0b0110_0001, 0b1111_1111, 0b0000_0000];

    #[test]
    fn bits_are_counted_from_the_highest() {
        let set: Vec<_> = (0..24).filter(|&at| bit_at(BYTES, at)).collect();
        assert_eq!(set, [1, 2, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert!(!bit_at(BYTES, 24) && !bit_at(BYTES, u64::MAX));
    }

    #[test]
    fn ranges_agree_with_looking_at_each_bit() {
        for first in 0..24 {
            for last in first..24 {
                let is_set = |at: &usize| bit_at(BYTES, *at as u64);
                let count = (first..=last).filter(is_set).count() as u64;
                assert_eq!(count_bits(BYTES, first..=last), count);
                for bit in [false, true] {
                    let found = (first..=last).find(|at| is_set(at) == bit);
                    assert_eq!(find_bit(BYTES, bit, first..=last), found);
                }
            }
        }
    }

    #[test]
    fn a_shorter_string_counts_as_followed_by_zeros() {
        let combined = |operation: BitOperation| {
            let mut result = vec![0b1100, 7];
            operation.combine(&mut result, &[0b1010]);
            operation.combine(&mut result, &[0b1111, 0, 1]);
            result
        };
        assert_eq!(combined(BitOperation::And), [0b1000, 0, 0]);
        assert_eq!(combined(BitOperation::Or), [0b1111, 7, 1]);
        assert_eq!(combined(BitOperation::Xor), [0b1001, 7, 1]);
    }

    #[test]
    fn numbers_of_every_width_come_back_as_they_were_written() {
        for is_signed in [false, true] {
            for width in 1..=if is_signed { 64 } else { 63 } {
                let field = BitField {
                    offset: 3,
                    width,
                    is_signed,
                };
                for value in [field.least(), field.greatest(), 0] {
                    let mut bytes = [0xA5; 9];
                    let set = BitFieldOperation::Set(value, BitOverflow::Fail);
                    field.apply(set, &mut bytes);
                    assert_eq!(field.read(&bytes), value, "{field:?}");
                    assert_eq!(bytes[0] >> 5, 0xA5 >> 5);
                }
            }
        }
    }
}
