//! Numbers as C writes them, for what scripts read, and the reference's random ones.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use mlua::Value;

/// Appends a number as C's `%.<precision>g` writes it.
pub(super) fn append_general(out: &mut Vec<u8>, value: f64, precision: usize) {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let name = if value.is_nan() { "nan" } else { "inf" };
        out.extend_from_slice(sign.as_bytes());
        return out.extend_from_slice(name.as_bytes());
    }
    let digits_max = precision.max(1);
    let scientific = format!("{value:.*e}", digits_max - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        unreachable!("this format has an exponent");
    };
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let places = i32::try_from(digits_max).unwrap_or(i32::MAX) - 1 - exponent;
    if exponent < -4 || places < 0 {
        out.extend_from_slice(without_zeros(mantissa).as_bytes());
        let sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", exponent.abs()).as_bytes());
    } else {
        let places = usize::try_from(places).unwrap_or_default();
        let fixed = format!("{value:.places$}");
        out.extend_from_slice(without_zeros(&fixed).as_bytes());
    }
}

fn without_zeros(text: &str) -> &str {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.')
}

/// The number that a value is.
pub(super) fn of(value: &Value) -> Option<f64> {
    match value {
        #[expect(
            clippy::cast_precision_loss,
            reason = "numbers of a script are doubles"
        )]
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// A number cut to an integer, as a C cast on x86-64 does it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what does not fit is told apart before"
)]
pub(super) fn truncated(value: f64) -> i64 {
    if (-TWO_TO_63..TWO_TO_63).contains(&value) {
        value as i64
    } else {
        i64::MIN
    }
}

/// An integer as an `int` of C.
#[expect(clippy::cast_possible_truncation, reason = "C does the same")]
pub(super) fn as_int(number: i64) -> i32 {
    number as i32
}

/// As [`truncated`], to an `int`.
pub(super) fn truncated_to_int(value: f64) -> i32 {
    i32::try_from(truncated(value)).unwrap_or(i32::MIN)
}

/// As [`truncated`], to an unsigned integer. What is larger than signed ones can be wraps around once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what does not fit is told apart before"
)]
pub(super) fn truncated_unsigned(value: f64) -> u64 {
    if (TWO_TO_63..TWO_TO_63 * 2.0).contains(&value) {
        value as u64
    } else if value >= TWO_TO_63 {
        0
    } else {
        truncated(value).cast_unsigned()
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// The numbers of `math.random`: the same for the same seed everywhere, `lrand48` of POSIX.
#[derive(Debug)]
pub(super) struct Random(AtomicU64);

impl Default for Random {
    fn default() -> Self {
        Self(AtomicU64::new(0x1234_ABCD_330E))
    }
}

impl Random {
    /// Begins again.
    pub(super) fn seed(&self, seed: u32) {
        let state = u64::from(seed) << 16 | 0x330E;
        self.0.store(state, Ordering::Relaxed);
    }

    /// A number from 0 up to, but not including, 1.
    #[expect(clippy::cast_precision_loss, reason = "31 bits fit")]
    pub(super) fn next(&self) -> f64 {
        let state = self.0.load(Ordering::Relaxed);
        let state = state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & ((1 << 48) - 1);
        self.0.store(state, Ordering::Relaxed);
        let value = state >> 17;
        (value % i32::MAX as u64) as f64 / f64::from(i32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::append_general;
    use super::truncated;
    use super::truncated_to_int;

    fn general(value: f64, precision: usize) -> String {
        let mut out = Vec::new();
        append_general(&mut out, value, precision);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_look_as_c_writes_them() {
        assert_eq!(general(0.1, 14), "0.1");
        assert_eq!(general(3.0, 14), "3");
        assert_eq!(general(1e14, 14), "1e+14");
        assert_eq!(general(99_999_999_999_999.0, 14), "99999999999999");
        assert_eq!(general(0.000_012_5, 14), "1.25e-05");
        assert_eq!(general(0.000_125, 14), "0.000125");
        assert_eq!(general(-1.5e300, 14), "-1.5e+300");
        assert_eq!(general(0.99999, 3), "1");
        assert_eq!(general(f64::NEG_INFINITY, 14), "-inf");
        assert_eq!(general(0.0, 14), "0");
    }

    #[test]
    fn a_cast_that_does_not_fit_gives_the_least() {
        assert_eq!(truncated(-3.9), -3);
        assert_eq!(truncated(1e19), i64::MIN);
        assert_eq!(truncated(f64::NAN), i64::MIN);
        assert_eq!(truncated_to_int(2_147_483_647.5), i32::MAX);
        assert_eq!(truncated_to_int(2_147_483_648.0), i32::MIN);
    }
}
