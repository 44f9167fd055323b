//! Floating-point numbers.

/// Appends `value` as RESP3 shows doubles.
pub fn append_f64(out: &mut Vec<u8>, value: f64) {
    let text = if value.is_nan() {
        "nan".to_owned()
    } else {
        format!("{value}")
    };
    out.extend_from_slice(text.as_bytes());
}

/// Reads a number.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
