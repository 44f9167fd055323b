//! Floating-point numbers of 64 bits, as RESP3 has them.

use super::append_i64;

/// Appends `value` as RESP3 shows doubles: whole numbers as such, others with the fewest digits that
/// give the same value when read again, with an exponent if they are very large or very small.
///
/// The reference's algorithm misses the shortest digits for about one number in a thousand and then
/// shows 17 digits; here they are always the shortest.
pub fn append_f64(out: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        return out.extend_from_slice(b"nan");
    }
    if let Some(whole) = as_whole(value) {
        return append_i64(out, whole);
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if value == 0.0 {
        out.push(b'0');
    } else if value.is_infinite() {
        out.extend_from_slice(b"inf");
    } else {
        append_digits(out, value.abs());
    }
}

/// Reads a number in decimal, with or without an exponent, or an infinity.
///
/// `None` for what is no number, and for one that is so large or so small that it would turn into
/// infinity or zero.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    let value: f64 = str::from_utf8(text).ok()?.parse().ok()?;
    let mantissa = text.split(|byte| matches!(byte, b'e' | b'E')).next();
    let has_digit = |digits: &str| {
        mantissa.is_some_and(|text| text.iter().any(|byte| digits.as_bytes().contains(byte)))
    };
    let too_large = value.is_infinite() && has_digit("0123456789");
    let too_small = value == 0.0 && has_digit("123456789");
    (!value.is_nan() && !too_large && !too_small).then_some(value)
}

/// The value as an integer, if it is one and so small that none of its digits is a guess. Minus zero
/// is not.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the value is an integer within the range"
)]
fn as_whole(value: f64) -> Option<i64> {
    let fits = value.abs() <= WHOLE_MAX && value.fract() == 0.0;
    let minus_zero = value == 0.0 && value.is_sign_negative();
    (fits && !minus_zero).then_some(value as i64)
}

/// Appends the shortest digits of a positive, finite value.
fn append_digits(out: &mut Vec<u8>, value: f64) {
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        unreachable!("this format has an exponent");
    };
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let exponent: isize = exponent.parse().unwrap_or(0);
    // The value is `digits` as an integer, times ten to the power of `shift`.
    let shift = exponent + 1 - isize::try_from(digits.len()).unwrap_or(0);

    if (0..8).contains(&shift) {
        out.extend_from_slice(&digits);
        out.resize(out.len() + shift.unsigned_abs(), b'0');
    } else if shift < 0 && (shift > -7 || exponent.abs() < 4) {
        append_fraction(out, &digits, shift.unsigned_abs());
    } else {
        append_with_exponent(out, &digits, exponent);
    }
}

/// Appends `digits` with a point before the last `places` of them.
fn append_fraction(out: &mut Vec<u8>, digits: &[u8], places: usize) {
    match digits.len().checked_sub(places) {
        Some(whole) if whole > 0 => {
            out.extend_from_slice(&digits[..whole]);
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
        _ => {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + places - digits.len(), b'0');
            out.extend_from_slice(digits);
        }
    }
}

/// Appends `1.5e+20`.
fn append_with_exponent(out: &mut Vec<u8>, digits: &[u8], exponent: isize) {
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    super::append_u64(out, exponent.unsigned_abs() as u64);
}

/// Half of what a signed 64-bit integer holds.
const WHOLE_MAX: f64 = 4_611_686_018_427_387_904.0;
