//! Numbers as people read them.

use crate::workloads::Target;

/// Writes a figure with three digits and a letter for its size: `3.41 M`, `980 k`, `0.52`.
pub(crate) fn short(value: f64) -> String {
    let (value, letter) = match value.abs() {
        size if size >= 999.5e6 => (value / 1e9, " G"),
        size if size >= 999.5e3 => (value / 1e6, " M"),
        size if size >= 999.5 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}{letter}")
}

/// Writes how many times better: `3.48×`.
pub(super) fn times(ratio: f64) -> String {
    if ratio > TIMES_MAX {
        return format!("> {}×", short(TIMES_MAX));
    }
    format!("{}×", short(ratio))
}

/// Writes what is to be reached: so many times better, or a figure.
pub(super) fn target(target: Target) -> String {
    match target {
        Target::Times(ratio) => times(ratio),
        Target::Figure(figure) => short(figure),
    }
}

/// A ratio beyond this comes of a figure that is zero, or nearly so.
const TIMES_MAX: f64 = 100_000.0;

/// Writes a part of one: `4 %`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Writes nanoseconds as microseconds.
pub(crate) fn micros(nanos: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    short(nanos as f64 / 1e3)
}

/// Writes bytes as mebibytes.
pub(crate) fn mebibytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    short(bytes as f64 / f64::from(1_u32 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept_whatever_the_size() {
        for (value, text) in [
            (0.0, "0.00"),
            (0.519, "0.52"),
            (9.996, "10.0"),
            (99.96, "100"),
            (999.4, "999"),
            (999.6, "1.00 k"),
            (3_412_345.0, "3.41 M"),
            (999_600_000.0, "1.00 G"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn units_are_those_of_the_table() {
        assert_eq!(micros(1_500), "1.50");
        assert_eq!(mebibytes(3 << 20), "3.00");
        assert_eq!(percent(0.036), "4 %");
        assert_eq!(times(3.477), "3.48×");
        assert_eq!(times(f64::INFINITY), "> 100 k×");
        assert_eq!(target(Target::Times(3.5)), "3.50×");
        assert_eq!(target(Target::Figure(0.9)), "0.90");
    }
}
