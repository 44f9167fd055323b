//! Whole numbers and their digits.

/// Reads a 64-bit number that is written exactly as [`Digits`] would write it.
pub(crate) fn parse_canonical(text: &[u8]) -> Option<i64> {
    match text {
        [b'0'] => Some(0),
        [b'-', digits @ ..] => 0_i64.checked_sub_unsigned(parse_digits(digits)?),
        digits => i64::try_from(parse_digits(digits)?).ok(),
    }
}

/// Reads a positive number without leading zeros.
fn parse_digits(digits: &[u8]) -> Option<u64> {
    if digits.len() > DIGITS_MAX || !matches!(digits, [b'1'..=b'9', ..]) {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then_some(number * 10 + u64::from(digit))
    })
}

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

    #[test]
    fn only_canonical_numbers_are_read() {
        for text in [
            "",
            "-",
            "-0",
            "00",
            "01",
            "+1",
            " 1",
            "1 ",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
        ] {
            assert_eq!(parse_canonical(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parse_canonical(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(parse_canonical(b"9223372036854775807"), Some(i64::MAX));
    }

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
                prop_assert_eq!(parse_canonical(text), Some(value));
            }
        }
    }
}
