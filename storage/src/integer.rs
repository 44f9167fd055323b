//! The digits of whole numbers.

/// The longest 64-bit numbers have this many digits.
const DIGITS_MAX: usize = 19;

/// The decimal digits of a number, in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digits {
    text: [u8; DIGITS_MAX + 1],
}

impl Digits {
    /// Writes a number and returns its digits, with a minus sign if it is negative.
    pub fn write(&mut self, value: i64) -> &[u8] {
        let mut start = self.text.len();
        let mut rest = value.unsigned_abs();
        loop {
            start -= 1;
            self.text[start] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            start -= 1;
            self.text[start] = b'-';
        }
        &self.text[start..]
    }
}

/// Returns how many bytes [`Digits::write`] would take.
pub(crate) fn digit_count(value: i64) -> usize {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(value < 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fields::canonical_integer;

    proptest! {
        /// Every number is read back from its digits, whose count is known beforehand.
        #[test]
        fn digits_are_read_back(value: i64) {
            for value in [value, value % 1_000, i64::MIN, i64::MAX, 0] {
                let mut digits = Digits::default();
                let text = digits.write(value);
                let expected = value.to_string();
                prop_assert_eq!(text, expected.as_bytes());
                prop_assert_eq!(text.len(), digit_count(value));
                prop_assert_eq!(canonical_integer(text), Some(value));
            }
        }
    }
}
