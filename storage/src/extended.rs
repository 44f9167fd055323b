//! Fractions of INCRBYFLOAT: the 80-bit floats that the reference counts in.
//!
//! With 64 bits of mantissa, 17 decimals of most sums read as a person expects: 10.5 and 0.1 make 10.6. A
//! 64-bit float would give 10.59999999999999964, so these few operations are done here in whole numbers.

use std::cmp::Ordering;

use crate::big::Big;

/// A finite or infinite number with 64 bits of mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extended {
    negative: bool,
    magnitude: Magnitude,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Magnitude {
    Zero,
    /// `mantissa * 2^exponent`. Invariant: the highest bit of the mantissa is set.
    Finite {
        mantissa: u64,
        exponent: i32,
    },
    Infinite,
}

impl Extended {
    /// Reads a decimal or hexadecimal number or an infinity, without blanks around it.
    ///
    /// Returns `None` for anything else, and for what is too large or too small for the format.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (negative, unsigned) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let magnitude = match unsigned {
            [b'0', b'x' | b'X', digits @ ..] => parse_hexadecimal(digits)?,
            _ if is_infinity(unsigned) => Magnitude::Infinite,
            _ => parse_decimal(unsigned)?,
        };
        Some(Self {
            negative,
            magnitude,
        })
    }

    /// Returns the sum, rounded to the nearest, or `None` if it is not finite.
    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        match (self.magnitude, other.magnitude) {
            (Magnitude::Infinite, _) | (_, Magnitude::Infinite) => None,
            (Magnitude::Zero, _) => Some(other),
            (_, Magnitude::Zero) => Some(self),
            (
                Magnitude::Finite {
                    mantissa: left,
                    exponent: left_exponent,
                },
                Magnitude::Finite {
                    mantissa: right,
                    exponent: right_exponent,
                },
            ) => {
                if (left_exponent, left) < (right_exponent, right) {
                    return other.checked_add(self);
                }
                // The greater one keeps 63 bits below its last and one above its first; what
                // falls off the smaller one is kept as a lowest bit, which is enough to round.
                let wide = u128::from(left) << GUARD_BITS;
                let distance = left_exponent.abs_diff(right_exponent);
                let aligned = shift_right_sticky(u128::from(right) << GUARD_BITS, distance);
                let sum = if self.negative == other.negative {
                    wide + aligned
                } else {
                    wide - aligned
                };
                let magnitude = round(sum, left_exponent - GUARD_BITS)?;
                Some(Self {
                    negative: self.negative && magnitude != Magnitude::Zero,
                    magnitude,
                })
            }
        }
    }

    /// Appends the number with up to 17 decimals and no zeros at the end.
    pub(crate) fn write_decimal(self, out: &mut Vec<u8>) {
        let (whole, fraction) = match self.magnitude {
            Magnitude::Zero => (Big::from(0), 0),
            Magnitude::Infinite => return,
            Magnitude::Finite { mantissa, exponent } => split_decimal(mantissa, exponent),
        };
        if self.negative && !(whole.is_zero() && fraction == 0) {
            out.push(b'-');
        }
        whole.write_decimal(out);
        if fraction > 0 {
            let digits = format!("{fraction:017}");
            out.push(b'.');
            out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
        }
    }
}

impl From<i64> for Extended {
    fn from(value: i64) -> Self {
        // 64 bits of mantissa hold every such number exactly.
        let magnitude = round(u128::from(value.unsigned_abs()), 0);
        Self {
            negative: value < 0,
            magnitude: magnitude.unwrap_or(Magnitude::Zero),
        }
    }
}

/// Longer texts are no numbers to the reference.
const TEXT_BYTES_MAX: usize = 5 * 1_024 - 1;

/// Bits kept below the mantissa while adding.
const GUARD_BITS: i32 = 63;

/// From here on, `2^n` is infinite.
const EXPONENT_END: i32 = 16_384;

/// Half of the smallest number is `2^n` with this `n`; that much or less is nothing.
const EXPONENT_HALF_MIN: i32 = -16_446;

/// Ten to the power of the 17 decimals that are shown.
const DECIMALS: u64 = 100_000_000_000_000_000;

fn is_infinity(text: &[u8]) -> bool {
    text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity")
}

/// Rounds `value * 2^exponent` to the nearest, and to the even one of two.
///
/// Returns `None` if the result is out of range, except that zero stays zero.
fn round(value: u128, exponent: i32) -> Option<Magnitude> {
    if value == 0 {
        return Some(Magnitude::Zero);
    }
    let spare = i32::try_from(value.leading_zeros()).ok()?;
    let wide = value << spare;
    let mut mantissa = u64::try_from(wide >> 64).ok()?;
    let rest = wide & u128::from(u64::MAX);
    let mut exponent = exponent - spare + 64;

    let half = 1_u128 << 63;
    let up = match rest.cmp(&half) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => mantissa & 1 == 1,
    };
    if up {
        mantissa = mantissa.wrapping_add(1);
        if mantissa == 0 {
            mantissa = 1 << 63;
            exponent += 1;
        }
    }
    let top_exponent = exponent + 63;
    if top_exponent >= EXPONENT_END || (top_exponent, mantissa) <= (EXPONENT_HALF_MIN, 1 << 63) {
        return None;
    }
    Some(Magnitude::Finite { mantissa, exponent })
}

fn shift_right_sticky(value: u128, distance: u32) -> u128 {
    match value.checked_shr(distance) {
        Some(shifted) => shifted | u128::from(shifted << distance != value),
        None => u128::from(value != 0),
    }
}

fn parse_hexadecimal(text: &[u8]) -> Option<Magnitude> {
    let (digits, exponent) = split_exponent(text, b'p')?;
    // All digits that fit; what does not is far below the mantissa.
    let mut value: u128 = 0;
    let mut shift: i32 = 0;
    let mut sticky = false;
    let mut after_point = false;
    let mut digit_count = 0;
    for &byte in digits {
        if byte == b'.' && !after_point {
            after_point = true;
            continue;
        }
        let digit = char::from(byte).to_digit(16)?;
        digit_count += 1;
        if value >> 124 == 0 {
            value = value << 4 | u128::from(digit);
            shift -= if after_point { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            shift += if after_point { 0 } else { 4 };
        }
    }
    if digit_count == 0 {
        return None;
    }
    let exponent = i32::try_from(exponent + i64::from(shift)).ok()?;
    round(value | u128::from(sticky), exponent)
}

fn parse_decimal(text: &[u8]) -> Option<Magnitude> {
    let (digits, exponent) = split_exponent(text, b'e')?;
    let point = digits.iter().position(|&byte| byte == b'.');
    let decimals = point.map_or(0, |point| digits.len() - point - 1);
    let mut number = Big::from(0);
    let mut digit_count = 0;
    for (index, &byte) in digits.iter().enumerate() {
        if Some(index) == point {
            continue;
        }
        let digit = char::from(byte).to_digit(10)?;
        number.multiply_add(10, u64::from(digit));
        digit_count += 1;
    }
    if digit_count == 0 {
        return None;
    }
    if number.is_zero() {
        return Some(Magnitude::Zero);
    }
    let power = exponent - i64::try_from(decimals).ok()?;
    // Beyond these bounds the result is out of range, however many digits the number has.
    if !(-2 * DECIMAL_POWER_MAX..=DECIMAL_POWER_MAX).contains(&power) {
        return None;
    }
    let scale = Big::power_of_ten(usize::try_from(power.unsigned_abs()).ok()?);
    if power >= 0 {
        divide(number.multiply(&scale), Big::from(1))
    } else {
        divide(number, scale)
    }
}

/// More than any exponent of ten that leads to a number in range, with as many digits as a text has.
const DECIMAL_POWER_MAX: i64 = 5_120;

/// Splits `12.5e-3` into its digits and its exponent. `None` if the exponent is not a number.
fn split_exponent(text: &[u8], mark: u8) -> Option<(&[u8], i64)> {
    let Some(at) = text
        .iter()
        .position(|byte| byte.to_ascii_lowercase() == mark)
    else {
        return Some((text, 0));
    };
    let (negative, digits) = match text.get(at + 1..)? {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() {
        return None;
    }
    let mut exponent: i64 = 0;
    for &byte in digits {
        let digit = char::from(byte).to_digit(10)?;
        exponent = (exponent * 10 + i64::from(digit)).min(1 << 30);
    }
    Some((text.get(..at)?, if negative { -exponent } else { exponent }))
}

/// Divides and rounds.
fn divide(mut dividend: Big, mut divisor: Big) -> Option<Magnitude> {
    // A quotient of 100 to 101 bits leaves more than enough below the mantissa.
    let shift = 100 + i32::try_from(divisor.bits()).ok()? - i32::try_from(dividend.bits()).ok()?;
    if shift >= 0 {
        dividend.shift_left(shift.unsigned_abs());
    } else {
        divisor.shift_left(shift.unsigned_abs());
    }
    let steps = 101;
    divisor.shift_left(steps);
    let mut quotient: u128 = 0;
    for _ in 0..=steps {
        quotient <<= 1;
        if dividend.compare(&divisor) != Ordering::Less {
            dividend.subtract(&divisor);
            quotient |= 1;
        }
        dividend.shift_left(1);
    }
    round(quotient | u128::from(!dividend.is_zero()), -shift)
}

/// Splits a number into its whole part and its fraction in units of 10^-17, rounded half to even.
fn split_decimal(mantissa: u64, exponent: i32) -> (Big, u64) {
    if exponent >= 0 {
        let mut whole = Big::from(mantissa);
        whole.shift_left(exponent.unsigned_abs());
        return (whole, 0);
    }
    let scaled = u128::from(mantissa) * u128::from(DECIMALS);
    let distance = exponent.unsigned_abs();
    // `scaled` has 121 bits at most, so that a distance of 127 leaves less than half a unit.
    let distance = distance.min(127);
    let (units, rest) = (scaled >> distance, scaled & ((1 << distance) - 1));
    let half = 1_u128 << (distance - 1);
    let up = rest > half || (rest == half && units & 1 == 1);
    let units = units + u128::from(up);
    let whole = units / u128::from(DECIMALS);
    let fraction = units % u128::from(DECIMALS);
    (
        // The whole part of a mantissa that was shifted right fits the mantissa, or is 2^64 after rounding.
        Big::from_wide(whole),
        u64::try_from(fraction).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::Extended;

    fn text(number: Extended) -> String {
        let mut out = Vec::new();
        number.write_decimal(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn sum(left: &str, right: &str) -> Option<String> {
        let left = Extended::parse(left.as_bytes())?;
        let right = Extended::parse(right.as_bytes())?;
        left.checked_add(right).map(text)
    }

    #[track_caller]
    fn assert_sum(left: &str, right: &str, expected: &str) {
        assert_eq!(sum(left, right).as_deref(), Some(expected));
    }

    #[test]
    fn small_decimals_add_up_as_on_paper() {
        assert_sum("10.50", "0.1", "10.6");
        assert_sum("0.1", "0.2", "0.3");
        assert_sum("5.0e3", "2.0e2", "5200");
        assert_sum("3", "-1.5", "1.5");
        assert_sum("-0.1", "0.1", "0");
        assert_sum("0", "-1.1", "-1.1");
        assert_sum("1", "1e-17", "1.00000000000000001");
        assert_sum("1", "1e-18", "1");
    }

    #[test]
    fn large_numbers_are_written_out() {
        assert_sum("9223372036854775807", "1", "9223372036854775808");
        assert_sum("18446744073709551615", "1", "18446744073709551616");
        assert_sum("1e30", "0", "1000000000000000000024696061952");
        assert_sum("1e20", "1", "100000000000000000000");
        let huge = sum("1e4932", "0").unwrap();
        assert_eq!(huge.len(), 4_933);
        assert_eq!(sum("1e4932", "1e4932").map(|text| text.len()), None);
    }

    #[test]
    fn hexadecimal_numbers_are_read() {
        assert_sum("0x10", "0", "16");
        assert_sum("0x1.8p1", "0", "3");
        assert_sum("-0xAp-1", "0", "-5");
        assert_eq!(Extended::parse(b"0x"), None);
        assert_eq!(Extended::parse(b"0x1p"), None);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let texts = [
            "", " 1", "1 ", ".", "-", "e5", "1e", "1e+", "1.2.3", "abc", "nan", "--1", "1e4933",
            "1e-5000", "in", "1\0",
        ];
        for text in texts {
            assert_eq!(Extended::parse(text.as_bytes()), None, "{text:?}");
        }
        for text in [
            "5.",
            ".5",
            "+5",
            "1E2",
            "inf",
            "-INFINITY",
            "0e99999999999",
            "1e-4950",
        ] {
            assert!(Extended::parse(text.as_bytes()).is_some(), "{text:?}");
        }
    }

    #[test]
    fn infinity_has_no_sum() {
        assert_eq!(sum("inf", "1"), None);
        assert_eq!(sum("1", "-inf"), None);
    }
}
