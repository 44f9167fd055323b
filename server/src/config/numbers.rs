//! Numbers as directives write them: plain integers, amounts of memory, and what C's `strtoll` takes.

/// Parses a canonical integer: no sign `+`, no leading zero, no blanks.
pub(super) fn parse_integer(text: &[u8]) -> Option<i64> {
    let text = str::from_utf8(text).ok()?;
    let value: i64 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

/// Parses an amount of memory such as `100mb`; `k`, `m`, `g` are powers of 1000, `kb`, `mb`, `gb` of
/// 1024. A unit alone is zero, as in the reference, and what follows a zero byte does not count; an amount above 64
/// bits is refused.
pub(super) fn parse_memory(text: &[u8]) -> Option<u64> {
    let text = crate::args::text(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = if number.is_empty() {
        0
    } else {
        str::from_utf8(number).ok()?.parse().ok()?
    };
    let factor = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1_000,
        b"kb" => 1_024,
        b"m" => 1_000_000,
        b"mb" => 1_024 * 1_024,
        b"g" => 1_000_000_000,
        b"gb" => 1_024 * 1_024 * 1_024,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// Parses what C's `strtoll` takes whole: blanks and a sign may come first, leading zeros are
/// allowed, nothing at all is zero, and too large a number becomes the largest.
pub(super) fn parse_lenient(text: &[u8], radix: u32) -> Option<i64> {
    let text = str::from_utf8(text).ok()?.trim_ascii_start();
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let limit = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    Some(i64::from_str_radix(text, radix).unwrap_or(limit))
}

#[cfg(test)]
mod tests {
    use super::parse_integer;
    use super::parse_lenient;
    use super::parse_memory;

    #[test]
    fn only_canonical_integers_are_plain() {
        assert_eq!(parse_integer(b"-12"), Some(-12));
        for text in [
            "",
            "-",
            "-0",
            "+1",
            "007",
            " 7",
            "7 ",
            "9223372036854775808",
            "1kb",
        ] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn memory_has_decimal_and_binary_units() {
        assert_eq!(parse_memory(b"1k"), Some(1_000));
        assert_eq!(parse_memory(b"1kb"), Some(1_024));
        assert_eq!(parse_memory(b"3MB"), Some(3 * 1_024 * 1_024));
        assert_eq!(parse_memory(b"2gB"), Some(2 * 1_024 * 1_024 * 1_024));
        assert_eq!(parse_memory(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_memory(b""), Some(0));
        assert_eq!(parse_memory(b"2mb\0and more"), Some(2 * 1_024 * 1_024));
        assert_eq!(parse_memory(b"\0\r\n"), Some(0));
        for text in [
            "-1",
            "1.5gb",
            "1tb",
            "18446744073709551616",
            "20000000000gb",
            " 1",
        ] {
            assert_eq!(parse_memory(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn lenient_numbers_are_those_of_strtoll() {
        assert_eq!(parse_lenient(b" +010", 10), Some(10));
        assert_eq!(parse_lenient(b"0777", 8), Some(0o777));
        assert_eq!(parse_lenient(b"", 10), Some(0));
        assert_eq!(parse_lenient(b"99999999999999999999", 10), Some(i64::MAX));
        for text in ["-", "1x", "+-1", "8 "] {
            assert_eq!(parse_lenient(text.as_bytes(), 10), None, "{text:?}");
        }
    }
}
