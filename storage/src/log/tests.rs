//! Corners of a log; `log_model.rs` holds the rest to a model.

use super::*;
use crate::fields::Part;
use crate::fields::Plain;
use crate::fields::Text;

fn append(log: &mut Log, ms: u64, fields: &[&[u8]], limits: NodeLimits) {
    log.append(StreamId::new(ms, 0), fields.iter().copied(), limits);
    log.check();
}

fn filled(count: u64, limits: NodeLimits) -> Log {
    let mut log = Log::new();
    for ms in 1..=count {
        let value = format!("value {ms}");
        let fields = [b"name".as_slice(), value.as_bytes()];
        log.append(StreamId::new(ms, 0), fields.into_iter(), limits);
    }
    log.check();
    log
}

#[test]
fn fields_keep_their_order_and_come_twice_if_they_did() {
    let mut log = Log::new();
    let fields: [&[u8]; 6] = [b"b", b"1", b"a", b"", b"b", b"01"];
    append(&mut log, 5, &fields, NodeLimits::default());
    let entry = log.get(StreamId::new(5, 0)).unwrap();
    assert_eq!(entry.field_count(), 3);
    let expected = [
        (Part::Bytes(b"b"), Text::Part(Part::Int(1))),
        (Part::Bytes(b"a"), Text::Part(Part::Bytes(b""))),
        (Part::Bytes(b"b"), Text::Part(Part::Bytes(b"01"))),
    ];
    assert!(entry.fields().eq(expected));
}

#[test]
fn a_node_ends_at_the_100th_entry_or_at_4096_bytes() {
    let limits = NodeLimits::default();
    assert_eq!(filled(100, limits).node_count(), 1);
    assert_eq!(filled(101, limits).node_count(), 2);
    let mut log = Log::new();
    for ms in 1..=3 {
        append(&mut log, ms, &[b"f", &[b'x'; 5_000]], limits);
    }
    assert_eq!(log.node_count(), 3);
}

/// The size before counts, so that one byte of text less makes two entries share a node.
#[test]
fn a_node_takes_an_entry_while_size_and_text_stay_below_the_limit() {
    // Seven for an empty one; the two counts, the names' count and end, "f": eleven; flags, ms, seq, "a", count:
    // eleven more.
    let size = 7 + 2 * 5 + 1 + 2 * 5 + 1;
    for (bytes_max, nodes) in [(size + 2, 2), (size + 3, 1)] {
        let limits = NodeLimits {
            bytes_max,
            entries_max: 0,
            packs: true,
        };
        let mut log = Log::new();
        append(&mut log, 1, &[b"f", b"a"], limits);
        append(&mut log, 2, &[b"f", b"b"], limits);
        assert_eq!(log.node_count(), nodes, "{bytes_max}");
    }
}

#[test]
fn a_log_without_limits_is_one_node_of_any_size() {
    let limits = NodeLimits {
        bytes_max: 0,
        entries_max: 0,
        packs: true,
    };
    let log = filled(10_000, limits);
    assert_eq!(log.node_count(), 1);
    for ms in [1, 5_000, 10_000] {
        assert!(log.contains(StreamId::new(ms, 0)));
    }
    assert_eq!(log.iter().count(), 10_000);
    assert_eq!(log.iter().rev().count(), 10_000);
}

#[test]
fn the_node_before_is_the_last_again_when_the_last_one_is_emptied() {
    let limits = NodeLimits {
        bytes_max: 100,
        entries_max: 0,
        packs: true,
    };
    let mut log = Log::new();
    append(&mut log, 1, &[b"f", b"small"], limits);
    append(&mut log, 2, &[b"f", &[b'x'; 200]], limits);
    assert_eq!(log.node_count(), 2);
    assert!(log.delete(StreamId::new(2, 0)));
    append(&mut log, 3, &[b"f", b"small"], limits);
    assert_eq!(log.node_count(), 1);
    assert_eq!(log.radix_node_count(), 2);
    assert!(log.may_have_lost(StreamId::new(2, 0), StreamId::new(2, 5)));
}

/// A node takes over the spare memory of the one before it. When its offsets no longer fit in two
/// bytes each, that goes, and the node takes less than before.
#[test]
fn an_entry_may_be_added_and_memory_given_back() {
    let limits = NodeLimits {
        bytes_max: 0,
        entries_max: 1_000,
        packs: true,
    };
    let mut log = filled(1_000, limits);
    for (ms, bytes) in [(1_001, 40_000), (1_002, 10_000), (1_003, 20_000)] {
        append(&mut log, ms, &[b"name", &vec![b'x'; bytes]], limits);
    }
    let bytes_before = log.bytes();
    append(&mut log, 1_004, &[b"name", b"value"], limits);
    assert!(log.bytes() < bytes_before);
    log.check();
}

#[test]
fn deleted_entries_count_for_the_node_but_give_their_memory_back() {
    let limits = NodeLimits::default();
    let mut log = filled(200, limits);
    let bytes_before = log.bytes();
    for ms in (1..=200).filter(|ms| ms % 100 != 50) {
        assert!(log.delete(StreamId::new(ms, 0)));
        log.check();
    }
    assert_eq!((log.len(), log.node_count()), (2, 2));
    assert!(log.bytes() * 4 < bytes_before, "{}", log.bytes());
    append(&mut log, 201, &[b"name", b"value"], limits);
    assert_eq!(log.node_count(), 3, "the second node had its 100 entries");
}

#[test]
fn long_values_that_are_alike_are_kept_once() {
    let limits = NodeLimits::default();
    let value = |ms: u64| format!("{}{ms:06}{}", "a".repeat(70), "z".repeat(200));
    let mut log = Log::new();
    for ms in 1..=1_000 {
        let value = value(ms);
        log.append(
            StreamId::new(ms, 0),
            [b"name".as_slice(), value.as_bytes()].into_iter(),
            limits,
        );
    }
    log.check();
    assert!(log.bytes() < 1_000 * 80, "{}", log.bytes());
    for entry in log.iter() {
        let (_, text) = entry.fields().next().unwrap();
        let mut out = Vec::new();
        match text {
            Text::Part(Part::Bytes(bytes)) => out.extend_from_slice(bytes),
            Text::Part(Part::Int(number)) => panic!("{number}"),
            Text::Packed(packed) => packed.append_to(&mut out),
        }
        assert_eq!(out, value(entry.id().ms).as_bytes());
    }
}

#[test]
fn a_small_entry_takes_less_memory_than_in_the_reference() {
    let log = filled(10_000, NodeLimits::default());
    // Flags, ms, seq and the count of elements take two or three bytes each, and the text two beside itself.
    let reference = 10_000 * (4 * 2 + 2 + "value 1000".len());
    assert!(log.bytes() < reference, "{} of {reference}", log.bytes());
}

/// XSETID lets IDs go back below those of deleted entries.
#[test]
fn ids_may_go_back_below_deleted_ones() {
    let limits = NodeLimits::default();
    let mut log = Log::new();
    for ms in [1, 50] {
        log.append(
            StreamId::new(ms, 0),
            [b"f".as_slice(), b"v"].into_iter(),
            limits,
        );
    }
    assert!(log.delete(StreamId::new(50, 0)));
    log.step_back();
    log.append(
        StreamId::new(6, 0),
        [b"f".as_slice(), b"v"].into_iter(),
        limits,
    );
    log.check();
    let ids: Vec<_> = log.iter().map(|entry| entry.id().ms).collect();
    assert_eq!(ids, [1, 6]);
    assert!(log.may_have_lost(StreamId::new(50, 0), StreamId::new(50, 0)));
}

#[test]
fn only_what_was_there_and_left_counts_as_lost() {
    let id = |ms| StreamId::new(ms, 0);
    let mut log = filled(300, NodeLimits::default());
    assert!(!log.may_have_lost(StreamId::MIN, StreamId::MAX));
    log.delete(id(150));
    assert!(!log.may_have_lost(id(1), id(149)));
    assert!(log.may_have_lost(id(150), id(150)));
    assert!(!log.may_have_lost(id(151), StreamId::MAX));
    // The first and the last node go.
    (1..=100).for_each(|ms| assert!(log.delete(id(ms))));
    (201..=300).for_each(|ms| assert!(log.delete(id(ms))));
    assert!(log.may_have_lost(id(3), id(3)));
    assert!(!log.may_have_lost(id(101), id(149)));
    assert!(log.may_have_lost(id(250), id(260)));
    assert!(!log.may_have_lost(id(260), id(250)), "no ID is between");
}

#[test]
fn an_emptied_log_holds_next_to_nothing() {
    let mut log = filled(100_000, NodeLimits::default());
    for ms in 1..=100_000 {
        log.delete(StreamId::new(ms, 0));
    }
    log.check();
    assert_eq!((log.len(), log.node_count()), (0, 0));
    assert!(log.bytes() < 1_000, "{}", log.bytes());
}

/// Whatever position is thought to be the one: nodes may have come and gone since it was.
#[test]
fn a_known_position_is_taken_only_if_it_is_the_one() {
    let limits = NodeLimits {
        entries_max: 5,
        ..NodeLimits::default()
    };
    let mut log = Log::new();
    for ms in (0..60).step_by(2) {
        log.append(StreamId::new(ms, 1), [&b"f"[..], b"v"].into_iter(), limits);
    }
    for ms in [0, 2, 4, 6, 8, 22, 24, 38, 58] {
        log.delete(StreamId::new(ms, 1));
    }
    let first_from = |position| log.range_from(position).next_id();
    let mut taken = 0;
    for id in (0..62).map(|ms| StreamId::new(ms, 1)) {
        let expected = first_from(log.seek(id));
        for node in 0..9 {
            for slot in 0..7 {
                let known = Position { node, slot };
                let found = log.seek_from(known, id);
                assert_eq!(first_from(found), expected, "{known:?} {id}");
                taken += usize::from(found == known);
            }
        }
    }
    assert!(taken >= 62, "{taken}");
}

#[test]
fn short_values_that_repeat_are_kept_once_and_read_the_same() {
    let log = |packs| {
        let limits = NodeLimits {
            packs,
            ..NodeLimits::default()
        };
        let mut log = Log::new();
        for ms in 0..1_000 {
            let value = format!("{ms:07} kilowatt");
            let device: &[u8] = if ms % 90 == 89 {
                b"another"
            } else {
                b"device-000/sensor-x"
            };
            let fields = [
                b"device",
                device,
                b"n",
                b"70000",
                b"reading",
                value.as_bytes(),
            ];
            log.append(StreamId::new(ms, 1), fields.into_iter(), limits);
        }
        log.check();
        log
    };
    let (packed, plain) = (log(true), log(false));
    assert!(
        packed.bytes() * 4 < plain.bytes() * 3,
        "{} of {}",
        packed.bytes(),
        plain.bytes()
    );
    for (entry, expected) in packed.iter().zip(plain.iter()) {
        assert_eq!(entry.id(), expected.id());
        assert!(entry.fields().eq(expected.fields()));
        let text = |value| match value {
            Plain::Bytes(lead) => lead.bytes[..lead.len].to_vec(),
            Plain::Int(number) => number.to_string().into_bytes(),
        };
        let bytes_max = entry.plain_values().unwrap().text_bytes_max();
        let values = entry.plain_values().unwrap().enumerate();
        let values = values.map(|(at, value)| value.unwrap_or_else(|| entry.template(at)));
        let expected = expected.plain_values().unwrap().flatten();
        assert!(bytes_max >= values.clone().map(|value| value.text_bytes()).sum());
        assert!(values.map(text).eq(expected.map(text)));
    }
}
