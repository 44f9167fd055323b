//! Numbers against the standard library, and against what the reference was seen to do.

use proptest::prelude::*;

use super::*;

proptest! {
    /// The digits written are those of `to_string`.
    #[test]
    fn digits_equal_to_string(signed in any_scale(), unsigned: u64) {
        prop_assert_eq!(written(|out| append_i64(out, signed)), signed.to_string());
        prop_assert_eq!(written(|out| append_u64(out, unsigned)), unsigned.to_string());
    }

    /// So are those of short numbers, and others have none.
    #[test]
    fn short_digits_equal_to_string(value: u64, shift in 0..64_u32) {
        let text = (value >> shift).to_string();
        let short = short_digits(value >> shift);
        prop_assert_eq!(short.is_some(), text.len() <= 8);
        if let Some((digits, count)) = short {
            prop_assert_eq!(&digits[..count], text.as_bytes());
        }
    }

    /// A text is a number if and only if the number is written as exactly that text.
    #[test]
    fn only_canonical_forms_are_read(text in "-?[0-9]{1,21}|[-+ 0-9a.]{0,4}") {
        let signed = text.parse::<i64>().ok().filter(|value| value.to_string() == text);

        prop_assert_eq!(parse_i64(text.as_bytes()), signed);
    }

    /// Every integer is read back from its own form.
    #[test]
    fn integers_survive(value in any_scale()) {
        prop_assert_eq!(parse_i64(value.to_string().as_bytes()), Some(value));
        prop_assert_eq!(parse_u64_lenient(value.to_string().as_bytes()), u64::try_from(value).ok());
    }

    /// Every double but NaN is read back from its own form, to the bit.
    #[test]
    fn doubles_survive(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(!value.is_nan());

        let text = written(|out| append_f64(out, value));

        prop_assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), Some(bits), "{}", text);
    }
}

#[test]
fn the_ends_of_integers_are_read_and_no_further() {
    assert_eq!(parse_i64(b"9223372036854775807"), Some(i64::MAX));
    assert_eq!(parse_i64(b"9223372036854775808"), None);
    assert_eq!(parse_i64(b"-9223372036854775808"), Some(i64::MIN));
    assert_eq!(parse_i64(b"-9223372036854775809"), None);
    assert_eq!(parse_i64(b"18446744073709551616"), None);
    assert_eq!(parse_i64(b"-0"), None);
}

#[test]
fn the_lenient_reader_takes_what_the_reference_takes() {
    let accepted: [(&[u8], u64); 8] = [
        (b"007", 7),
        (b"+9", 9),
        (b" \t\n7", 7),
        (b"-0", 0),
        (b"-01", u64::MAX),
        (b"-18446744073709551615", 1),
        (b"5\0abc", 5),
        (b"18446744073709551615", u64::MAX),
    ];
    for (text, value) in accepted {
        assert_eq!(parse_u64_lenient(text), Some(value), "{text:?}");
    }
    let refused: [&[u8]; 9] = [
        b"",
        b" ",
        b"-",
        b"-1",
        b"+-1",
        b"7 ",
        b"0x5",
        b"\x005",
        b"18446744073709551616",
    ];
    for text in refused {
        assert_eq!(parse_u64_lenient(text), None, "{text:?}");
    }
}

#[test]
fn doubles_look_as_the_reference_shows_them() {
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (3.0, "3"),
        (-1234567890123.0, "-1234567890123"),
        (2.5, "2.5"),
        (0.1, "0.1"),
        (0.000_001, "0.000001"),
        (0.000_000_1, "1e-7"),
        (0.000_123_456_789, "1.23456789e-4"),
        (0.001_234_567_89, "0.00123456789"),
        (12_345.123_456_7, "1.23451234567e+4"),
        (1e18, "1000000000000000000"),
        (1e19, "1e+19"),
        (1.5e300, "1.5e+300"),
        (123_456_789_012_345_680_000.0, "123456789012345680000"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ];
    for (value, text) in cases {
        assert_eq!(written(|out| append_f64(out, value)), text);
    }
}

#[test]
fn a_double_that_would_become_infinite_or_zero_is_refused() {
    for text in [
        "inf",
        "-Infinity",
        "0",
        "-0e999",
        "1e-300",
        ".5",
        "+1.",
        "5e-324",
    ] {
        assert!(parse_f64(text.as_bytes()).is_some(), "{text}");
    }
    for text in [
        "1e400", "-1e400", "1e-400", "nan", "", " 1", "1 ", "0x10", "1e", ".",
    ] {
        assert!(parse_f64(text.as_bytes()).is_none(), "{text}");
    }
}

fn any_scale() -> impl Strategy<Value = i64> {
    (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift)
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}
