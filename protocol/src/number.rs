//! Numbers as clients write them and read them.

mod digits;
mod double;
mod long_double;
mod natural;

pub(crate) use digits::DIGITS_MAX;
pub(crate) use digits::EIGHT_DIGITS;
pub use digits::append_i64;
pub use digits::append_u64;
pub(crate) use digits::digit;
pub(crate) use digits::last_eight;
pub(crate) use digits::short_digits;
pub(crate) use digits::write_all;
pub(crate) use digits::write_back;
pub use double::append_f64;
pub use double::parse_f64;
pub use long_double::LongDouble;

/// Reads a signed number in exactly the form in which it would be written: no blanks, no `+`, no
/// `-0`, no leading zeros.
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    match text {
        [digit @ b'0'..=b'9'] => Some(i64::from(digit - b'0')),
        [b'-', digits @ ..] => 0_i64.checked_sub_unsigned(parse_positive(digits)?),
        digits => i64::try_from(parse_positive(digits)?).ok(),
    }
}

/// Reads an unsigned number as leniently as the reference does where it takes IDs and cursors.
///
/// It allows blanks and a sign in front and leading zeros, stops at a zero byte, and counts a negative
/// number down from 2^64, if it is not one that [`parse_i64`] takes: `-1` is refused, `-01` is the
/// largest number.
pub fn parse_u64_lenient(text: &[u8]) -> Option<u64> {
    if let Some(value) = parse_i64(text) {
        return u64::try_from(value).ok();
    }
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let (negative, digits) = match &text[blanks..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().try_fold(0_u64, |value, byte| {
        value.checked_mul(10)?.checked_add(digit_value(*byte)?)
    })?;
    Some(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// Reads a number above zero, without a leading zero.
fn parse_positive(text: &[u8]) -> Option<u64> {
    if !matches!(text, [b'1'..=b'9', ..]) || text.len() > DIGITS_MAX {
        return None;
    }
    // Nineteen digits always fit; only the twentieth can be too much.
    let (front, last) = text.split_at(text.len().min(DIGITS_MAX - 1));
    let mut value = 0;
    for byte in front {
        value = value * 10 + digit_value(*byte)?;
    }
    match last {
        [byte] => value.checked_mul(10)?.checked_add(digit_value(*byte)?),
        _ => Some(value),
    }
}

fn digit_value(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

/// What C calls white space, vertical tab included.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests;
