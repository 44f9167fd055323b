//! The slots of keys, against the specification, and against the reference server where there is one.

use std::fmt::Write as _;
use std::time::Duration;

use tailrace_storage::key_slot;
use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::Reference;
use tailrace_tests::Value;

/// The checksum as its specification has it: one bit after the other.
fn checksum(bytes: &[u8]) -> u16 {
    let mut crc: u16 = 0;
    for byte in bytes {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            crc ^= if carry { 0x1021 } else { 0 };
        }
    }
    crc
}

/// The slot as the specification has it.
fn slot(key: &[u8]) -> u16 {
    let text = match key.iter().position(|byte| *byte == b'{') {
        None => key,
        Some(open) => match key[open + 1..].iter().position(|byte| *byte == b'}') {
            None | Some(0) => key,
            Some(len) => &key[open + 1..open + 1 + len],
        },
    };
    checksum(text) % 16_384
}

/// Keys of all lengths, half of them with braces somewhere.
fn keys() -> Vec<Vec<u8>> {
    let mut state: u64 = 1;
    let mut next = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let alphabets: [&[u8]; 2] = [b"abcdefghijkl0123456789:", b"ab{}{}c"];
    let mut keys = Vec::new();
    for number in 0..KEYS {
        let alphabet = alphabets[number % 2];
        let len = next(24);
        let byte = |_| alphabet[usize::try_from(next(alphabet.len() as u64)).unwrap()];
        keys.push((0..len).map(byte).collect());
    }
    keys
}

#[test]
fn keys_have_the_slots_of_the_specification() {
    assert_eq!(checksum(b"123456789"), 0x31C3);
    for (key, expected) in [
        ("foo", 12_182),
        ("{user1000}.following", slot(b"user1000")),
        ("foo{}{bar}", slot(b"foo{}{bar}")),
        ("foo{{bar}}zap", slot(b"{bar")),
        ("foo{bar}{zap}", slot(b"bar")),
    ] {
        assert_eq!(key_slot(key.as_bytes()), expected, "{key}");
    }
    let mut tagged = 0;
    for key in keys() {
        assert_eq!(key_slot(&key), slot(&key), "{}", key.escape_ascii());
        tagged += usize::from(slot(&key) != checksum(&key) % 16_384);
    }
    assert!(tagged > KEYS / 10, "many keys have a tag: {tagged}");
}

#[test]
fn keys_have_the_slots_of_the_reference() {
    let Some(binary) = Reference::binary() else {
        return;
    };
    let reference = Reference::start_in_cluster(&binary).unwrap();
    let mut client = Client::connect(tailrace_tests::Target::address(&reference)).unwrap();
    let mut wrong = String::new();
    for key in keys() {
        client.say(&[b"CLUSTER".as_slice(), b"KEYSLOT", &key]);
        client.poll(Some(Duration::from_secs(5)));
        let reply = client.take();
        let is_same = matches!(reply, Some(Arrival::Reply(Value::Integer(found))) if found == i64::from(key_slot(&key)));
        if !is_same {
            writeln!(wrong, "{}", key.escape_ascii()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const KEYS: usize = 10_000;
