//! Natural numbers of any size: just what reading and writing long numbers exactly takes.

use std::cmp::Ordering;

/// A natural number, the least significant word first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Natural {
    /// Invariant: the last word is not zero.
    words: Vec<u32>,
}

impl Natural {
    pub(crate) fn zero() -> Self {
        Self { words: Vec::new() }
    }

    /// Ten to the power of `exponent`.
    pub(crate) fn power_of_ten(exponent: usize) -> Self {
        let mut power = Self::from(1);
        for _ in 0..exponent / DECIMALS_PER_WORD {
            power.multiply_add(WORD_OF_DECIMALS, 0);
        }
        for _ in 0..exponent % DECIMALS_PER_WORD {
            power.multiply_add(10, 0);
        }
        power
    }

    /// Reads digits of a base up to 16.
    pub(crate) fn from_digits(digits: impl Iterator<Item = u8>, base: u32) -> Self {
        let mut value = Self::zero();
        for digit in digits {
            let digit = char::from(digit).to_digit(base);
            value.multiply_add(base, digit.unwrap_or(0));
        }
        value
    }

    pub(crate) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for word in &mut self.words {
            let value = u64::from(*word) * u64::from(factor) + carry;
            *word = low(value);
            carry = value >> 32;
        }
        if carry > 0 {
            self.words.push(low(carry));
        }
        self.trim();
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        let mut product = Self::zero();
        for (index, word) in other.words.iter().enumerate() {
            let mut row = self.clone();
            row.multiply_add(*word, 0);
            row.shift_left(index * 32);
            product.add(&row);
        }
        product
    }

    pub(crate) fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut carry = 0;
        for (index, word) in self.words.iter_mut().enumerate() {
            let addend = other.words.get(index).copied().unwrap_or(0);
            let value = u64::from(*word) + u64::from(addend) + carry;
            *word = low(value);
            carry = value >> 32;
        }
        if carry > 0 {
            self.words.push(low(carry));
        }
    }

    /// Takes `other` away, which is not larger.
    pub(crate) fn subtract(&mut self, other: &Self) {
        debug_assert!(*self >= *other);
        let mut borrow = false;
        for (index, word) in self.words.iter_mut().enumerate() {
            let subtrahend = other.words.get(index).copied().unwrap_or(0);
            let (value, first) = word.overflowing_sub(subtrahend);
            let (value, second) = value.overflowing_sub(u32::from(borrow));
            *word = value;
            borrow = first || second;
        }
        self.trim();
    }

    pub(crate) fn shift_left(&mut self, bits: usize) {
        self.multiply_add(1 << (bits % 32), 0);
        if !self.words.is_empty() {
            self.words.splice(0..0, vec![0; bits / 32]);
        }
    }

    /// Drops the lowest `bits` and returns whether any of them was set.
    pub(crate) fn shift_right(&mut self, bits: usize) -> bool {
        let dropped = self.words.len().min(bits / 32);
        let mut lost = self.words.drain(..dropped).any(|word| word > 0);
        let bits = bits % 32;
        let mut above = 0;
        for word in self.words.iter_mut().rev() {
            let value = (u64::from(above) << 32 | u64::from(*word)) >> bits;
            above = *word & !(u32::MAX << bits);
            *word = low(value);
        }
        lost |= above > 0;
        self.trim();
        lost
    }

    /// Divides by a word and returns the rest.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for word in self.words.iter_mut().rev() {
            let value = u64::from(rest) << 32 | u64::from(*word);
            *word = low(value / u64::from(divisor));
            rest = low(value % u64::from(divisor));
        }
        self.trim();
        rest
    }

    /// Appends the number in decimal.
    pub(crate) fn append_to(mut self, out: &mut Vec<u8>) {
        let mut groups = Vec::new();
        while !self.is_zero() {
            groups.push(self.divide(WORD_OF_DECIMALS));
        }
        super::append_u64(out, groups.pop().unwrap_or(0).into());
        for group in groups.into_iter().rev() {
            let mut digits = [b'0'; DECIMALS_PER_WORD];
            super::write_back(&mut digits, group.into());
            out.extend_from_slice(&digits);
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    /// The number of bits up to the highest that is set.
    pub(crate) fn bit_len(&self) -> usize {
        let leading = self.words.last().map_or(0, |word| word.leading_zeros());
        self.words.len() * 32 - leading as usize
    }

    /// The lowest 64 bits.
    pub(crate) fn low_bits(&self) -> u64 {
        let word = |index| u64::from(self.words.get(index).copied().unwrap_or(0));
        word(1) << 32 | word(0)
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        let mut natural = Self {
            words: vec![low(value), low(value >> 32)],
        };
        natural.trim();
        natural
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_len = self.words.len().cmp(&other.words.len());
        by_len.then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half is carried on by the caller"
)]
fn low(value: u64) -> u32 {
    value as u32
}

/// The largest power of ten that fits into a word, and its zeros.
const WORD_OF_DECIMALS: u32 = 1_000_000_000;
const DECIMALS_PER_WORD: usize = 9;
