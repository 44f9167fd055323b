//! Payloads for RESTORE that promise more than they have.

use tailrace_storage::end_payload;

use super::host::Host;
use super::neighbour::Neighbour;

/// Lengths and counts of whatever there is in a value, each far beyond its end, up to 2^63.
#[test]
fn payloads_that_promise_much_take_no_memory() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let mut asking = Neighbour::of_nothing(&host);
    for (what, body) in promises() {
        for count in [
            &b"\x80\x7f\xff\xff\xff"[..],
            b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff",
        ] {
            let body = [&body[..], count, b"\x00\x01x"].concat();
            let payload = end_payload(body, 11);
            let reply = asking.asks(&[b"RESTORE", &b"k"[..], b"0", &payload, b"REPLACE"]);
            assert_eq!(reply, "!ERR Bad data format", "{what}");
            neighbour.works(1);
        }
    }
    host.assert_grown_at_most(32 * MIB);
}

/// Thirty groups whose names are packed, a hundredth of what they stand for: there is a bound for all of a payload.
#[test]
fn what_payloads_unpack_has_a_bound() {
    let host = Host::start("proto-max-bulk-len 1mb");
    let mut neighbour = Neighbour::of(&host);
    let mut asking = Neighbour::of_nothing(&host);
    let mut body = [EMPTY_STREAM, b"\x1e"].concat();
    for letter in 0..30 {
        body.extend_from_slice(&packed(letter, 10_000));
        body.extend_from_slice(b"\x00\x00\x00\x00\x00");
    }
    let payload = end_payload(body, 11);
    for _ in 0..5 {
        let reply = asking.asks(&[b"RESTORE", &b"k"[..], b"0", &payload, b"REPLACE"]);
        assert_eq!(reply, "!ERR Bad data format");
        neighbour.works(1);
    }
    host.assert_grown_at_most(32 * MIB);
}

/// A letter again and again: once, and then 264 times for three bytes.
fn packed(letter: u8, repeats: u32) -> Vec<u8> {
    let packed = [vec![0, letter], b"\xe0\xff\x00".repeat(repeats as usize)].concat();
    let packed_len = u32::try_from(packed.len()).unwrap().to_be_bytes();
    let len = (1 + 264 * repeats).to_be_bytes();
    [&b"\xc3\x80"[..], &packed_len, b"\x80", &len, &packed].concat()
}

/// The beginnings of values, up to where a length or a count is to come.
fn promises() -> Vec<(&'static str, Vec<u8>)> {
    let stream = EMPTY_STREAM.to_vec();
    let group = [&stream[..], b"\x01\x01g\x00\x00\x00"].concat();
    vec![
        ("a string", b"\x00".to_vec()),
        ("a packed string", b"\x00\xc3".to_vec()),
        ("what it unpacks to", b"\x00\xc3\x02".to_vec()),
        ("nodes", b"\x15".to_vec()),
        ("a node's first ID", b"\x15\x01".to_vec()),
        ("groups", stream.clone()),
        ("a group's name", [&stream[..], b"\x01"].concat()),
        ("pending entries", group.clone()),
        ("consumers", [&group[..], b"\x00"].concat()),
        ("a consumer's name", [&group[..], b"\x00\x01"].concat()),
        (
            "what it has pending",
            [&group[..], b"\x00\x01\x01c", &[0; 16]].concat(),
        ),
    ]
}

/// A stream without entries, up to its number of groups.
const EMPTY_STREAM: &[u8] = b"\x15\x00\x00\x00\x00\x00\x00\x00\x00\x00";
const MIB: u64 = 1_024 * 1_024;
