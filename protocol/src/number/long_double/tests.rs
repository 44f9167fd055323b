//! Sums against exact arithmetic, and against what the reference was seen to do.

use proptest::prelude::*;

use super::*;

proptest! {
    /// Small numbers with decimals add up as on paper, which is the point of the type.
    #[test]
    fn small_numbers_add_up_as_on_paper(
        a in -15_000_000_i64..15_000_000,
        b in -15_000_000_i64..15_000_000,
        places in 6..12_usize,
    ) {
        let sum = sum(&on_paper(a, places), &on_paper(b, places));
        prop_assert_eq!(sum, Some(on_paper(a + b, places)));
    }

    /// Integers add up exactly as long as they fit into 64 bits.
    #[test]
    fn integers_add_up_exactly(a in any::<i32>(), b: i64) {
        let exact = i128::from(a) + i128::from(b);
        prop_assert_eq!(sum(&a.to_string(), &b.to_string()), Some(exact.to_string()));
    }

    /// Zero changes nothing, and the order does not matter.
    #[test]
    fn zero_and_order_do_not_matter(a: f64, b: f64) {
        prop_assume!(a.is_finite() && b.is_finite());
        let (a, b) = (format!("{a:e}"), format!("{b:e}"));
        prop_assert_eq!(sum(&a, "0"), sum("-0", &a));
        prop_assert_eq!(sum(&a, &b), sum(&b, &a));
    }
}

/// Each was set in the reference and raised there with INCRBYFLOAT.
#[test]
fn sums_are_those_of_the_reference() {
    let cases = [
        ("10.5", "0.1", "10.6"),
        ("3", "1.1", "4.1"),
        ("0.1", "0.2", "0.3"),
        ("1e-17", "0", "0.00000000000000001"),
        ("5.1e-18", "0", "0.00000000000000001"),
        ("4.9e-18", "0", "0"),
        ("-1e-18", "0", "0"),
        ("1", "-1", "0"),
        ("0x10", "0x.8p1", "17"),
        ("+5.0e3", "-.5", "4999.5"),
        ("1e30", "1", "1000000000000000000024696061952"),
        ("1.8446744073709551615e19", "1", "18446744073709551616"),
        ("3.6e-4951", "0", "0"),
        ("15894.4", "0", "15894.40000000000000036"),
    ];
    for (a, b, text) in cases {
        assert_eq!(sum(a, b).as_deref(), Some(text), "{a} + {b}");
    }
}

#[test]
fn the_ends_of_the_range_are_those_of_the_reference() {
    let refused = [
        "",
        " 1",
        "1 ",
        "abc",
        "nan",
        "1e",
        "1e+",
        ".",
        "-",
        "0x",
        "0x1p",
        "1_0",
        "1e5x",
        "5\0",
        "1.18973149535723176509e4932",
        "1e4933",
        "1e99999999999999999999",
        "1e-4951",
        "1e-99999999999999999999",
        "0x1p-16447",
        "0x1p16384",
    ];
    for text in refused {
        assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text}");
    }
    let taken = [
        "1.18973149535723176502e4932",
        "2e-4951",
        "0x1p-16445",
        "0e99999999999999999999",
        "inf",
        "-INFINITY",
        "-0",
    ];
    for text in taken {
        assert!(LongDouble::parse(text.as_bytes()).is_some(), "{text}");
    }
    assert_eq!(sum("1e4932", "1e4932"), None);
    assert_eq!(sum("inf", "1"), None);
    assert_eq!(sum("1e4900", "0").map(|digits| digits.len()), Some(4_901));
    assert!(LongDouble::parse(&[b'1'; TEXT_BYTES_MAX + 1]).is_none());
}

fn sum(a: &str, b: &str) -> Option<String> {
    let a = LongDouble::parse(a.as_bytes()).unwrap();
    let b = LongDouble::parse(b.as_bytes()).unwrap();
    let mut out = Vec::new();
    a.checked_add(b)?.append_to(&mut out);
    Some(String::from_utf8(out).unwrap())
}

/// `value / 10^places` with no zeros at the end of its decimals; `places` is not zero.
fn on_paper(value: i64, places: usize) -> String {
    let digits = format!("{:0>width$}", value.abs(), width = places + 1);
    let (whole, decimals) = digits.split_at(digits.len() - places);
    let sign = if value < 0 { "-" } else { "" };
    let text = format!("{sign}{whole}.{decimals}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
