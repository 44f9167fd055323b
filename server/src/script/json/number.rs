//! Numbers as C reads them.

/// Reads a number as C's `strtod` does, and says how long it is.
pub(super) fn c_number(text: &[u8]) -> Option<(f64, usize)> {
    let (sign, start) = match text.first() {
        Some(b'-') => (-1.0, 1),
        Some(b'+') => (1.0, 1),
        _ => (1.0, 0),
    };
    let rest = &text[start..];
    let begins = |word: &[u8]| {
        let head = rest.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    if begins(b"infinity") {
        return Some((sign * f64::INFINITY, start + 8));
    }
    if begins(b"inf") {
        return Some((sign * f64::INFINITY, start + 3));
    }
    if begins(b"nan") {
        return Some((f64::NAN.copysign(sign), start + 3));
    }
    if begins(b"0x")
        && let Some((value, len)) = hexadecimal(&rest[2..])
    {
        return Some((sign * value, start + 2 + len));
    }
    let digits = |from: usize| {
        rest[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    let mut len = whole;
    let mut fraction = 0;
    if rest.get(len) == Some(&b'.') {
        fraction = digits(len + 1);
        len += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = rest.get(len) {
        let signed = usize::from(matches!(rest.get(len + 1), Some(b'+' | b'-')));
        let exponent = rest
            .get(len + 1 + signed..)
            .map_or(0, |_| digits(len + 1 + signed));
        if exponent > 0 {
            len += 1 + signed + exponent;
        }
    }
    let number = str::from_utf8(&rest[..len]).ok()?.parse::<f64>().ok()?;
    Some((sign * number, start + len))
}

/// The number behind `0x`, whose exponent is one of two.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let (mut value, mut scale, mut len, mut digits) = (0.0_f64, 0_i32, 0, 0);
    let mut is_fraction = false;
    while let Some(&byte) = text.get(len) {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                digits += 1;
                scale -= if is_fraction { 4 } else { 0 };
            }
            None if byte == b'.' && !is_fraction => is_fraction = true,
            None => break,
        }
        len += 1;
    }
    if digits == 0 {
        return None;
    }
    if let Some(b'p' | b'P') = text.get(len) {
        let signed = usize::from(matches!(text.get(len + 1), Some(b'+' | b'-')));
        let from = len + 1 + signed;
        let count = text.get(from..).map_or(0, |rest| {
            rest.iter().take_while(|b| b.is_ascii_digit()).count()
        });
        if count > 0 {
            let exponent = str::from_utf8(&text[from..from + count]).ok()?;
            let exponent = exponent.parse().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX);
            scale += if text[len + 1] == b'-' {
                -exponent
            } else {
                exponent
            };
            len = from + count;
        }
    }
    Some((value * 2.0_f64.powi(scale), len))
}

/// No exponent beyond it makes a difference.
const EXPONENT_MAX: i32 = 10_000;

#[cfg(test)]
mod tests {
    use super::c_number;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(c_number(b"12.5e1,"), Some((125.0, 6)));
        assert_eq!(c_number(b"1e"), Some((1.0, 1)));
        assert_eq!(c_number(b"-0x1F"), Some((-31.0, 5)));
        assert_eq!(c_number(b"0x.8p1"), Some((1.0, 6)));
        assert_eq!(c_number(b"0xg"), Some((0.0, 1)));
        assert_eq!(c_number(b".5"), Some((0.5, 2)));
        assert_eq!(c_number(b"-"), None);
        assert_eq!(c_number(b"Infinity"), Some((f64::INFINITY, 8)));
    }
}
