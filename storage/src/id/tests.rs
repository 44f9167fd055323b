//! What is read as an ID, and what is none.

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Result<StreamId, InvalidId> {
    StreamId::parse(text.as_bytes(), 42)
}

#[test]
fn what_is_no_id_is_refused() {
    for text in [
        "-",
        "+",
        "abc",
        "1-abc",
        "-1",
        "8-",
        "9-1-2",
        "",
        "(5-5",
        "*-5",
        "*-*",
        "*",
        "5-*",
        "18446744073709551616",
        " -1",
        "1 ",
        "1-2 ",
        "0x5",
        "5.5",
        " ",
        "5--1",
        "5--9223372036854775808",
        "5---1",
        "5--18446744073709551616",
        "+",
        "5-+",
        "5- +-1",
    ] {
        assert_eq!(parsed(text), Err(InvalidId), "{text:?}");
    }
}

#[test]
fn what_the_reference_lets_through_is_accepted() {
    for (text, ms, seq) in [
        ("7", 7, 42),
        ("7-01", 7, 1),
        (
            "9999999999999999999-18446744073709551615",
            9_999_999_999_999_999_999,
            u64::MAX,
        ),
        ("00000000000000000007-00000000000000000001", 7, 1),
        ("007-1", 7, 1),
        (" 7", 7, 42),
        ("\t\r\n\x0b\x0c 7-3", 7, 3),
        ("+9", 9, 42),
        ("10-+1", 10, 1),
        ("10- 1", 10, 1),
        ("12--18446744073709551615", 12, 1),
        ("5--01", 5, u64::MAX),
        ("5--0", 5, 0),
        ("5- -1", 5, u64::MAX),
        ("5--9223372036854775809", 5, 9_223_372_036_854_775_807),
        ("18446744073709551615", u64::MAX, 42),
        ("5\0-9", 5, 42),
        ("0000000000000000000000000000000000005", 5, 42),
    ] {
        assert_eq!(parsed(text), Ok(StreamId { ms, seq }), "{text:?}");
    }
}

#[test]
fn digits_are_read_eight_at_a_time() {
    assert_eq!(eight_digits(*b"12345678"), Some(12_345_678));
    assert_eq!(eight_digits(*b"00000009"), Some(9));
    for place in 0..8 {
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            let mut text = *b"98765432";
            text[place] = byte;
            assert_eq!(eight_digits(text), None, "{text:?}");
        }
    }
}

#[test]
fn a_usual_id_is_read_as_any_other() {
    for (ms, seq) in [(1_000_000_000_000, 0), (1_764_374_400_123, 98_765_432)] {
        let text = format!("{ms}-{seq}").into_bytes();
        assert_eq!(StreamId::parse_usual(&text), Some(StreamId::new(ms, seq)));
        for place in 0..text.len() {
            for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                let mut wrong = text.clone();
                wrong[place] = byte;
                let is_right = wrong == text;
                assert_eq!(StreamId::parse_usual(&wrong).is_some(), is_right);
            }
        }
    }
    for unusual in [
        "1764374400123-",
        "176437440012-12",
        "1764374400123-123456789",
    ] {
        assert_eq!(StreamId::parse_usual(unusual.as_bytes()), None);
    }
}

proptest! {
    #[test]
    fn ids_of_any_size_come_back(ms in any::<u64>(), seq in any::<u64>(), shifts in (0..64, 0..64)) {
        let id = StreamId::new(ms >> shifts.0, seq >> shifts.1);
        prop_assert_eq!(StreamId::parse(id.to_string().as_bytes(), 0), Ok(id));
    }
}

#[test]
fn a_text_of_127_bytes_may_be_an_id_and_one_more_may_not() {
    let mut text = vec![b'0'; 126];
    text.push(b'3');
    assert_eq!(StreamId::parse(&text, 0), Ok(StreamId::new(3, 0)));
    text.insert(0, b'0');
    assert_eq!(StreamId::parse(&text, 0), Err(InvalidId));
}

#[test]
fn a_bound_may_be_the_least_or_the_greatest_id() {
    assert_eq!(StreamId::parse_bound(b"-", 0), Ok(StreamId::MIN));
    assert_eq!(StreamId::parse_bound(b"+", 0), Ok(StreamId::MAX));
    assert_eq!(StreamId::parse_bound(b"5", 7), Ok(StreamId::new(5, 7)));
    assert_eq!(StreamId::parse_bound(b"$", 7), Err(InvalidId));
}

#[test]
fn a_request_leaves_all_the_sequence_or_nothing_open() {
    for (text, request) in [
        ("*", IdRequest::Auto),
        ("5-*", IdRequest::AutoSeq { ms: 5 }),
        ("5", IdRequest::Exact(StreamId::new(5, 0))),
        ("0-0", IdRequest::Exact(StreamId::MIN)),
        ("5-6", IdRequest::Exact(StreamId::new(5, 6))),
    ] {
        assert_eq!(IdRequest::parse(text.as_bytes()), Ok(request), "{text:?}");
    }
    for text in ["*-*", "*-5", "-*", "5-**", "", "-", "+", "**"] {
        assert_eq!(
            IdRequest::parse(text.as_bytes()),
            Err(InvalidId),
            "{text:?}"
        );
    }
}

#[test]
fn the_neighbours_of_an_id_cross_into_the_next_millisecond() {
    let last_of_five = StreamId::new(5, u64::MAX);
    assert_eq!(last_of_five.next(), Some(StreamId::new(6, 0)));
    assert_eq!(StreamId::new(6, 0).prev(), Some(last_of_five));
    assert_eq!(StreamId::MAX.next(), None);
    assert_eq!(StreamId::MIN.prev(), None);
}
