//! Floating-point numbers of 80 bits, as INCRBYFLOAT reckons with.
//!
//! The reference uses what C calls `long double`: on x86-64 a number with 64 bits of precision.
//! That this is more than an `f64` has shows: 10.5 and 0.1 make 10.6, and not 10.59999999999999964.
//! So this is the arithmetic of that type, exact and then rounded to the nearest, ties to even.

use super::is_blank;
use super::natural::Natural;

/// A number with 64 bits of precision and 15 of exponent, or an infinity.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LongDouble {
    negative: bool,
    magnitude: Magnitude,
}

impl LongDouble {
    /// Reads a number in decimal or hexadecimal, with or without an exponent, or an infinity.
    ///
    /// `None` for what is no number, and for one that is so large or so small that it would turn
    /// into infinity or zero.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (negative, unsigned) = match text {
            [first, ..] if is_blank(*first) => return None,
            [b'-', unsigned @ ..] => (true, unsigned),
            [b'+', unsigned @ ..] => (false, unsigned),
            unsigned => (false, unsigned),
        };
        let magnitude = match unsigned {
            [b'0', b'x' | b'X', hexadecimal @ ..] => Literal::parse(hexadecimal, 16)?.value()?,
            decimal => match decimal.to_ascii_lowercase().as_slice() {
                b"inf" | b"infinity" => Magnitude::Infinite,
                _ => Literal::parse(decimal, 10)?.value()?,
            },
        };
        Some(Self {
            negative,
            magnitude,
        })
    }

    /// The sum, or `None` if it is too large to be a number or if either is not one.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let Magnitude::Finite { bits, exponent } = self.magnitude else {
            return None;
        };
        let Magnitude::Finite {
            bits: other_bits,
            exponent: other_exponent,
        } = other.magnitude
        else {
            return None;
        };
        let common = exponent.min(other_exponent);
        let mut a = Natural::from(bits);
        a.shift_left(exponent.abs_diff(common) as usize);
        let mut b = Natural::from(other_bits);
        b.shift_left(other_exponent.abs_diff(common) as usize);

        let mut negative = self.negative;
        if negative == other.negative {
            a.add(&b);
        } else if a >= b {
            a.subtract(&b);
        } else {
            b.subtract(&a);
            a = b;
            negative = other.negative;
        }
        match Magnitude::rounded(a, common, false) {
            Magnitude::Infinite => None,
            magnitude => Some(Self {
                negative,
                magnitude,
            }),
        }
    }

    /// Appends the number in decimal without an exponent, with at most 17 decimals and no zeros at
    /// their end. That may be several thousand digits.
    pub fn append_to(self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.negative {
            out.push(b'-');
        }
        match self.magnitude {
            Magnitude::Infinite => out.extend_from_slice(b"inf"),
            Magnitude::Finite { bits, exponent } if exponent >= 0 => {
                let mut whole = Natural::from(bits);
                whole.shift_left(exponent.unsigned_abs() as usize);
                whole.append_to(out);
            }
            Magnitude::Finite { bits, exponent } => {
                append_decimals(out, bits, exponent.unsigned_abs());
            }
        }
        if out[start..] == *b"-0" {
            out.remove(start);
        }
    }
}

impl From<i64> for LongDouble {
    fn from(value: i64) -> Self {
        Self {
            negative: value < 0,
            magnitude: Magnitude::Finite {
                bits: value.unsigned_abs(),
                exponent: 0,
            },
        }
    }
}

/// A number without its sign.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Magnitude {
    /// `bits * 2^exponent`.
    Finite {
        bits: u64,
        exponent: i32,
    },
    Infinite,
}

impl Magnitude {
    /// The nearest to `value * 2^exponent`, or to a little more than that if `inexact`.
    fn rounded(mut value: Natural, exponent: i32, inexact: bool) -> Self {
        let bit_len = i32::try_from(value.bit_len()).unwrap_or(i32::MAX);
        let dropped = (bit_len - PRECISION_BITS).max(EXPONENT_MIN - exponent);
        let mut exponent = exponent;
        if dropped > 0 {
            // Keeps one bit more, which with what lies below decides where to round.
            let lost = value.shift_right(dropped.unsigned_abs() as usize - 1) || inexact;
            let half = value.low_bits() & 1 == 1;
            value.shift_right(1);
            let odd = value.low_bits() & 1 == 1;
            if half && (lost || odd) {
                value.add(&Natural::from(1));
            }
            exponent += dropped;
        }
        if value.is_zero() {
            return Self::Finite {
                bits: 0,
                exponent: 0,
            };
        }
        if value.bit_len() > 64 {
            value.shift_right(1);
            exponent += 1;
        }
        let bit_len = i32::try_from(value.bit_len()).unwrap_or(i32::MAX);
        if bit_len + exponent > EXPONENT_END {
            return Self::Infinite;
        }
        Self::Finite {
            bits: value.low_bits(),
            exponent,
        }
    }
}

/// A number as it is written: `digits * base^exponent`, or times `2^exponent` in base 16.
struct Literal {
    digits: Natural,
    digit_count: usize,
    base: u32,
    exponent: i64,
}

impl Literal {
    /// Reads `12.5e3`, or `c.8p3` in base 16, with at least one digit.
    fn parse(text: &[u8], base: u32) -> Option<Self> {
        let is_digit = |byte: &u8| char::from(*byte).is_digit(base);
        let whole_len = text.iter().take_while(|byte| is_digit(byte)).count();
        let (whole, rest) = text.split_at(whole_len);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => {
                rest.split_at(rest.iter().take_while(|byte| is_digit(byte)).count())
            }
            rest => (&rest[..0], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match (rest, base) {
            ([], _) => 0,
            ([b'e' | b'E', exponent @ ..], 10) | ([b'p' | b'P', exponent @ ..], 16) => {
                parse_exponent(exponent)?
            }
            _ => return None,
        };
        let places = i64::try_from(fraction.len()).ok()?;
        let all_digits = whole.iter().chain(fraction).copied();
        Some(Self {
            digits: Natural::from_digits(all_digits, base),
            digit_count: whole.len() + fraction.len(),
            base,
            exponent: match base {
                10 => exponent - places,
                _ => exponent - 4 * places,
            },
        })
    }

    /// The nearest number; `None` if that is infinite, or zero and should not be.
    fn value(self) -> Option<Magnitude> {
        if self.digits.is_zero() {
            return Some(Magnitude::rounded(self.digits, 0, false));
        }
        // Keeps what follows small. Far beyond both ends no digit makes up for such an exponent.
        let digit_count = i64::try_from(self.digit_count).ok()?;
        let far = i64::from(EXPONENT_END) * 2;
        if self.exponent > far || self.exponent + 4 * digit_count < -far {
            return None;
        }
        let exponent = i32::try_from(self.exponent).ok()?;
        let power = exponent.unsigned_abs() as usize;
        let value = match (self.base, exponent) {
            (10, 0..) => {
                let value = self.digits.multiply(&Natural::power_of_ten(power));
                Magnitude::rounded(value, 0, false)
            }
            (10, _) => quotient(self.digits, Natural::power_of_ten(power)),
            _ => Magnitude::rounded(self.digits, exponent, false),
        };
        match value {
            Magnitude::Infinite | Magnitude::Finite { bits: 0, .. } => None,
            value => Some(value),
        }
    }
}

/// Reads what follows `e`. Too many digits are as good as the largest exponent.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_i64, |value, digit| {
        (value * 10 + i64::from(digit - b'0')).min(i64::from(i32::MAX))
    });
    Some(if negative { -value } else { value })
}

/// Divides, one bit at a time: there are only as many as the result can hold, and a few.
fn quotient(mut dividend: Natural, mut divisor: Natural) -> Magnitude {
    let (dividend_len, divisor_len) = (dividend.bit_len(), divisor.bit_len());
    let steps = PRECISION_BITS.unsigned_abs() as usize + 2;
    // The quotient starts at the bit where both are aligned, and has `steps` bits below.
    let exponent = i32::try_from(dividend_len).unwrap_or(i32::MAX)
        - i32::try_from(divisor_len).unwrap_or(i32::MAX)
        - PRECISION_BITS
        - 2;
    dividend.shift_left((divisor_len + steps).saturating_sub(dividend_len));
    divisor.shift_left((dividend_len.saturating_sub(divisor_len + steps)) + steps);

    let mut result = Natural::zero();
    for _ in 0..=steps {
        result.shift_left(1);
        if dividend >= divisor {
            dividend.subtract(&divisor);
            result.add(&Natural::from(1));
        }
        divisor.shift_right(1);
    }
    Magnitude::rounded(result, exponent, !dividend.is_zero())
}

/// Appends `bits / 2^shift`, which is not zero, with up to 17 decimals.
fn append_decimals(out: &mut Vec<u8>, bits: u64, shift: u32) {
    let scaled = u128::from(bits) * u128::from(DECIMALS_UNIT);
    let rounded = match 1_u128.checked_shl(shift) {
        None => 0,
        Some(unit) => {
            let (value, rest) = (scaled / unit, scaled % unit);
            let up = rest > unit / 2 || (rest == unit / 2 && value % 2 == 1);
            value + u128::from(up)
        }
    };
    let unit = u128::from(DECIMALS_UNIT);
    let whole = u64::try_from(rounded / unit).unwrap_or(u64::MAX);
    let mut decimals = u64::try_from(rounded % unit).unwrap_or(0);
    super::append_u64(out, whole);
    if decimals == 0 {
        return;
    }
    let mut digits = [b'0'; DECIMALS];
    let mut len = DECIMALS;
    while decimals.is_multiple_of(10) {
        decimals /= 10;
        len -= 1;
    }
    super::write_back(&mut digits[..len], decimals);
    out.push(b'.');
    out.extend_from_slice(&digits[..len]);
}

/// Bits that a number keeps.
const PRECISION_BITS: i32 = 64;
/// The power of two of the lowest bit of the smallest number.
const EXPONENT_MIN: i32 = -16_445;
/// The power of two that is too large.
const EXPONENT_END: i32 = 16_384;
/// Decimals that are shown, and the number of them that make one.
const DECIMALS: usize = 17;
const DECIMALS_UNIT: u64 = 10_u64.pow(17);
/// The longest text that is read, as in the reference.
const TEXT_BYTES_MAX: usize = 5 * 1_024 - 1;

#[cfg(test)]
mod tests;
