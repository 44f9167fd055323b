//! Names and values come back as they were put, in as few bytes as they need.

use proptest::prelude::*;

use super::*;

fn round_trip(text: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    put(&mut out, text);
    let mut rest = out.as_slice();
    let back = match take(&mut rest) {
        Part::Bytes(bytes) => bytes.to_vec(),
        Part::Int(number) => number.to_string().into_bytes(),
    };
    assert!(rest.is_empty());
    assert!(have_names([text, b"value"].into_iter(), &out));
    assert!(!have_names(
        [b"other".as_slice(), b"value"].into_iter(),
        &out
    ));
    (back, out.len())
}

#[test]
fn numbers_take_as_few_bytes_as_they_need() {
    for (number, bytes) in [
        (0, 1),
        (63, 1),
        (64, 2),
        (999, 2),
        (13_375, 2),
        (13_376, 3),
        (-1, 2),
        (-128, 2),
        (-129, 3),
        (1_700_000_000_000, 7),
        (i64::MAX, 9),
        (i64::MIN, 9),
    ] {
        let text = number.to_string().into_bytes();
        assert_eq!(round_trip(&text), (text, bytes), "{number}");
    }
}

#[test]
fn what_only_looks_like_a_number_keeps_its_bytes() {
    for text in [
        "",
        "-",
        "+1",
        "01",
        "-0",
        "-01",
        "00",
        "1 ",
        " 1",
        "1a",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999",
        "18446744073709551617",
    ] {
        assert_eq!(canonical_integer(text.as_bytes()), None, "{text:?}");
        assert_eq!(round_trip(text.as_bytes()).0, text.as_bytes());
    }
}

#[test]
fn texts_of_any_length_come_back() {
    for len in [0, 1, 127, 128, 65_535, 65_536, 100_000] {
        let text = vec![b'x'; len];
        assert_eq!(round_trip(&text).0, text, "{len}");
    }
}

#[test]
fn values_of_a_tag_are_taken_and_others_stay() {
    let mut body = Vec::new();
    put(&mut body, b"abc");
    body.push(AS_TEMPLATE);
    put(&mut body, b"7");
    let mut values = PlainValues::new(&body, body.len(), 3);
    let [three, four] = [3, 4].map(|len| Tag::of_text(len).unwrap());
    assert_eq!(values.next_tagged(four), None);
    assert_eq!(values.next_tagged(Tag::TEMPLATE), None);
    let text = values.next_tagged(three).unwrap();
    assert_eq!(&text[..three.text_len()], b"abc");
    assert!(values.next_tagged(Tag::TEMPLATE).is_some());
    assert!(matches!(values.next(), Some(Some(Plain::Int(7)))));
    assert!(values.next().is_none());
    assert!(Tag::of_text(128).is_none());
}

#[test]
fn counts_of_any_size_come_back() {
    for count in [0, 1, 127, 128, 16_383, 16_384, 1 << 31] {
        let mut out = Vec::new();
        put_count(&mut out, count);
        assert_eq!(take_count(&mut out.as_slice()), count);
    }
}

proptest! {
    #[test]
    fn every_number_comes_back(number: i64, shift in 0_u32..64) {
        let text = (number >> shift).to_string().into_bytes();
        let mut out = Vec::new();
        put(&mut out, &text);
        prop_assert_eq!(take(&mut out.as_slice()), Part::Int(number >> shift));
    }

    #[test]
    fn every_text_comes_back(text in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(&round_trip(&text).0, &text);
    }
}
