//! Whole numbers without bounds, as far as fractions need them.

use std::cmp::Ordering;

/// A whole number of any size; the lowest 64 bits come first.
#[derive(Clone, Debug)]
pub(crate) struct Big {
    /// Invariant: the last word is not zero.
    words: Vec<u64>,
}

impl Big {
    pub(crate) fn from(value: u64) -> Self {
        Self::from_wide(u128::from(value))
    }

    pub(crate) fn from_wide(value: u128) -> Self {
        let mut big = Self {
            words: vec![low_word(value), low_word(value >> 64)],
        };
        big.normalise();
        big
    }

    pub(crate) fn power_of_ten(power: usize) -> Self {
        let mut big = Self::from(1);
        for _ in 0..power / GROUP_DIGITS {
            big.multiply_add(GROUP, 0);
        }
        for _ in 0..power % GROUP_DIGITS {
            big.multiply_add(10, 0);
        }
        big
    }

    pub(crate) fn multiply_add(&mut self, factor: u64, addend: u64) {
        let mut carry = u128::from(addend);
        for word in &mut self.words {
            carry += u128::from(*word) * u128::from(factor);
            *word = low_word(carry);
            carry >>= 64;
        }
        self.words.push(low_word(carry));
        self.normalise();
    }

    pub(crate) fn shift_left(&mut self, distance: u32) {
        let bits = distance % 64;
        if bits > 0 {
            self.multiply_add(1 << bits, 0);
        }
        if !self.is_zero() {
            let words = (distance / 64) as usize;
            self.words.splice(0..0, std::iter::repeat_n(0, words));
        }
    }

    /// Subtracts a number that is not greater.
    pub(crate) fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        for (word, other) in self.words.iter_mut().zip(others) {
            let (less, below) = word.overflowing_sub(other);
            let (less, again) = less.overflowing_sub(u64::from(borrow));
            *word = less;
            borrow = below || again;
        }
        self.normalise();
    }

    /// Divides by a number and returns the remainder.
    pub(crate) fn divide_by(&mut self, divisor: u64) -> u64 {
        let mut rest: u128 = 0;
        for word in self.words.iter_mut().rev() {
            rest = rest << 64 | u128::from(*word);
            *word = low_word(rest / u128::from(divisor));
            rest %= u128::from(divisor);
        }
        self.normalise();
        low_word(rest)
    }

    fn normalise(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        let mut product = Self::from(0);
        for &word in other.words.iter().rev() {
            product.shift_left(64);
            let mut part = self.clone();
            part.multiply_add(word, 0);
            product.add(&part);
        }
        product
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.words
            .resize(self.words.len().max(other.words.len()), 0);
        let mut carry: u128 = 0;
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        for (word, other) in self.words.iter_mut().zip(others) {
            carry += u128::from(*word) + u128::from(other);
            *word = low_word(carry);
            carry >>= 64;
        }
        self.words.push(low_word(carry));
        self.normalise();
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn bits(&self) -> u32 {
        let below = self.words.len().saturating_sub(1) * 64;
        let top = self
            .words
            .last()
            .map_or(0, |word| 64 - word.leading_zeros());
        u32::try_from(below).unwrap_or(u32::MAX).saturating_add(top)
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let by_len = self.words.len().cmp(&other.words.len());
        by_len.then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()))
    }

    pub(crate) fn write_decimal(mut self, out: &mut Vec<u8>) {
        let mut groups = vec![self.divide_by(GROUP)];
        while !self.is_zero() {
            groups.push(self.divide_by(GROUP));
        }
        for (index, group) in groups.iter().rev().enumerate() {
            let width = if index == 0 { 1 } else { GROUP_DIGITS };
            out.extend_from_slice(format!("{group:0width$}").as_bytes());
        }
    }
}

fn low_word(value: u128) -> u64 {
    u64::try_from(value & u128::from(u64::MAX)).unwrap_or(0)
}

/// Digits that are read and written together.
const GROUP_DIGITS: usize = 17;

/// Ten to the power of [`GROUP_DIGITS`].
const GROUP: u64 = 100_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::Big;

    fn text(number: Big) -> String {
        let mut out = Vec::new();
        number.write_decimal(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn powers_of_ten_read_as_such() {
        for power in [0, 1, 16, 17, 18, 34, 100] {
            let expected = format!("1{}", "0".repeat(power));
            assert_eq!(text(Big::power_of_ten(power)), expected);
        }
    }

    #[test]
    fn arithmetic_carries_and_borrows_across_words() {
        let mut number = Big::from_wide(u128::MAX);
        number.add(&Big::from(1));
        assert_eq!(number.bits(), 129);
        number.subtract(&Big::from(1));
        assert_eq!(text(number), u128::MAX.to_string());
        let square = Big::from(u64::MAX).multiply(&Big::from(u64::MAX));
        let expected = u128::from(u64::MAX) * u128::from(u64::MAX);
        assert_eq!(text(square), expected.to_string());
        let mut shifted = Big::from(3);
        shifted.shift_left(126);
        assert_eq!(text(shifted), (3_u128 << 126).to_string());
    }
}
