//! Payloads: what is written is read again, what was written elsewhere is read, and what is damaged is refused.

use proptest::prelude::*;

use super::*;
use crate::claim::{Claim, ClaimShown, ClaimTime};
use crate::compat::Compat;
use crate::deliver::Tracking;
use crate::fields::Text;
use crate::id::{IdRequest, StreamId};
use crate::node::NodeLimits;
use crate::pending::{PendingEntry, PendingFilter};
use crate::rng::Rng;
use crate::stream::Stream;
use crate::time::{Millis, UnixMillis};
use crate::trim::{Trim, TrimLimit};

const RULES: PayloadRules = PayloadRules {
    versions: Versions::Known,
    string_bytes_max: 1 << 20,
    packs: true,
};

fn read(payload: &[u8]) -> Result<Value, RestoreError> {
    Value::from_payload(payload, RULES)
}

fn ended(body: &[u8], version: u16) -> Vec<u8> {
    end_payload(body.to_vec(), version)
}

fn string_of(payload: &[u8]) -> String {
    let value = read(payload).unwrap();
    let mut digits = crate::integer::Digits::default();
    let bytes = value.as_string().unwrap().bytes_with(&mut digits).to_vec();
    String::from_utf8(bytes).unwrap()
}

fn written(text: &str) -> Vec<u8> {
    Value::String(StringValue::from_bytes(text.as_bytes())).to_payload()
}

#[test]
fn strings_are_written_in_their_shortest_form() {
    for (text, body) in [
        ("", &b"\x00\x00"[..]),
        ("abc", b"\x00\x03abc"),
        ("-5", b"\x00\xc0\xfb"),
        ("300", b"\x00\xc1\x2c\x01"),
        ("-2147483648", b"\x00\xc2\x00\x00\x00\x80"),
        ("2147483648", b"\x00\x0a2147483648"),
        ("007", b"\x00\x03007"),
    ] {
        assert_eq!(written(text), ended(body, 11), "{text}");
        assert_eq!(string_of(&ended(body, 80)), text);
    }
    let long = "x".repeat(70_000);
    assert_eq!(&written(&long)[..6], b"\x00\x80\x00\x01\x11\x70");
    assert_eq!(string_of(&written(&long)), long);
}

/// A hundred letters, as Valkey 9.1.2 packs them.
#[test]
fn packed_strings_are_read() {
    let body = b"\x00\xc3\x09\x40\x64\x01\x61\x61\xe0\x57\x00\x01\x61\x61";
    assert_eq!(string_of(&ended(body, 80)), "a".repeat(100));
}

#[test]
fn footers_tell_what_is_read() {
    let body = b"\x00\x03abc";
    for version in [1, 9, 11, 12, 13, 80] {
        assert!(read(&ended(body, version)).is_ok(), "{version}");
    }
    for version in [0, 14, 79, 81, 65_535] {
        assert_eq!(
            read(&ended(body, version)).unwrap_err(),
            RestoreError::Footer
        );
        let all = PayloadRules {
            versions: Versions::All,
            ..RULES
        };
        let all = Value::from_payload(&ended(body, version), all);
        assert_eq!(all.is_ok(), version > 0, "{version}");
    }
    let mut wrong = ended(body, 11);
    *wrong.last_mut().unwrap() ^= 1;
    assert_eq!(read(&wrong).unwrap_err(), RestoreError::Footer);
    assert_eq!(
        read(b"\x0b\0\0\0\0\0\0\0\0").unwrap_err(),
        RestoreError::Footer
    );
}

#[test]
fn what_is_neither_string_nor_stream_is_named() {
    for (body, version, error) in [
        (b"\x01\x00", 80, RestoreError::OtherType(1)),
        (b"\x16\x00", 80, RestoreError::OtherType(22)),
        (b"\x16\x00", 13, RestoreError::ForeignType(22)),
        (b"\x08\x00", 80, RestoreError::Damaged),
        (b"\x1a\x00", 80, RestoreError::Damaged),
        (b"\xff\x00", 80, RestoreError::Damaged),
    ] {
        assert_eq!(read(&ended(body, version)).unwrap_err(), error);
    }
}

#[test]
fn strings_that_promise_too_much_are_refused() {
    for body in [
        &b"\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"\x00\x80\xff\xff\xff\xff",
        b"\x00\xc3\x02\x80\x7f\xff\xff\xff\x00a",
        b"\x00\xc4",
        b"\x00",
    ] {
        assert_eq!(read(&ended(body, 11)).unwrap_err(), RestoreError::Damaged);
    }
}

/// Makes a stream by chance: with groups, with much deleted, trimmed and set, in nodes of any size.
fn any_stream(seed: u64) -> Stream {
    let mut rng = Rng::from_seed(seed);
    let mut stream = Stream::new();
    let limits = NodeLimits {
        bytes_max: [0, 100, 500, 4_096][rng.below(4)],
        entries_max: [0, 3, 10, 100][rng.below(4)],
        packs: true,
    };
    let mut now = [0, 1_700_000_000_000, u64::MAX >> 2][rng.below(3)];
    for _ in 0..rng.below(300) {
        now += rng.below(5) as u64 * rng.below(1_000) as u64;
        change(&mut stream, &mut rng, UnixMillis(now), limits);
    }
    stream
}

fn change(stream: &mut Stream, rng: &mut Rng, now: UnixMillis, limits: NodeLimits) {
    let group = [&b"g"[..], b"12", b"workers"][rng.below(3)];
    let consumer = [&b"a"[..], b"-7", b"somebody"][rng.below(3)];
    let ids: Vec<_> = stream.log().iter().map(|entry| entry.id()).collect();
    let any_id = ids.get(rng.below(ids.len())).copied();
    match rng.below(20) {
        0 => drop(stream.create_group(
            group,
            any_id.unwrap_or(StreamId::MIN),
            [None, Some(7)][rng.below(2)],
        )),
        1 => drop(stream.create_consumer(group, consumer, now)),
        2..=4 => drop(stream.read_new(group, consumer, 7, Tracking::Pending, now)),
        5 => drop(stream.acknowledge(group, any_id)),
        6 => {
            let start = rng.below(ids.len());
            let len = rng.below(ids.len() - start);
            stream.delete(ids[start..start + len].iter().copied());
        }
        7 => drop(stream.delete(any_id)),
        8 => {
            let limit = match any_id {
                Some(id) if rng.below(2) == 0 => TrimLimit::MinId(id),
                _ => TrimLimit::MaxLen(ids.len() as u64 * 3 / 4),
            };
            stream.trim(Trim {
                limit,
                approximate: rng.below(2) == 0,
                entries_max: 0,
            });
        }
        9 => {
            let claim = Claim {
                ids: &Vec::from_iter(any_id),
                idle_min: Millis(0),
                time: ClaimTime::At(now.0.cast_signed()),
                deliveries: Some(1 << rng.below(63)),
                force: true,
                shown: ClaimShown::JustId,
                last_id: StreamId::MIN,
            };
            let _ = stream.claim(group, consumer, &claim, now);
        }
        _ => {
            let fields = any_fields(rng);
            let _ = stream.append(
                IdRequest::Auto,
                fields.iter().map(Vec::as_slice),
                now,
                limits,
            );
        }
    }
}

fn any_fields(rng: &mut Rng) -> Vec<Vec<u8>> {
    let names = [
        &["task"][..],
        &["task", "12"],
        &["other"],
        &["", "task", "x"],
    ][rng.below(4)];
    let mut fields = Vec::new();
    for name in names {
        fields.push(name.as_bytes().to_vec());
        fields.push(match rng.below(4) {
            0 => (rng.next_u64().cast_signed() >> rng.below(64))
                .to_string()
                .into_bytes(),
            1 => vec![b'v'; rng.below(200)],
            2 => {
                b"{\"the same\":\"text as in others, and long enough to be packed, over and over\"}"
                    .to_vec()
            }
            _ => vec![b'0'; rng.below(4)],
        });
    }
    fields
}

/// Everything about a stream that shows, in words.
fn shown(stream: &Stream) -> String {
    let mut out = format!(
        "{} {} {} {} {} nodes {} radix {}\n",
        stream.len(),
        stream.last_id(),
        stream.first_id(),
        stream.max_deleted_id(),
        stream.entries_added(),
        stream.log().node_count(),
        stream.log().radix_node_count(),
    );
    for node in stream.log().nodes() {
        out += &format!("node {} {} {}\n", node.base(), node.last(), node.live());
    }
    for entry in stream.log().iter() {
        out += &format!("{}", entry.id());
        for (name, value) in entry.fields() {
            out += &format!(" {name:?}={:?}", text_of(value));
        }
        out += "\n";
    }
    for (name, group) in stream.groups() {
        out += &format!(
            "group {name:?} {} {:?} lag {:?}\n",
            group.last_delivered(),
            group.entries_read(),
            stream.lag(group, Compat::Valkey)
        );
        for (index, consumer) in group.consumers() {
            out += &format!(
                "{:?} {:?} {:?} {}\n",
                consumer.name(),
                consumer.seen_at(),
                consumer.active_at(),
                group.pending().count_of(index)
            );
        }
        for PendingEntry {
            id,
            consumer,
            delivered_at,
            deliveries,
        } in group.pending().iter(PendingFilter::default())
        {
            out += &format!(
                "{id} {:?} {delivered_at:?} {deliveries}\n",
                group.consumer(consumer).name()
            );
        }
    }
    out
}

fn text_of(value: Text<'_>) -> Vec<u8> {
    match value {
        Text::Part(Part::Bytes(bytes)) => bytes.to_vec(),
        Text::Part(Part::Int(number)) => number.to_string().into_bytes(),
        Text::Packed(packed) => {
            let mut bytes = Vec::new();
            packed.append_to(&mut bytes);
            bytes
        }
    }
}

fn payload_of(stream: &Stream) -> Vec<u8> {
    Value::Stream(Box::new(stream.clone())).to_payload()
}

fn stream_of(payload: &[u8]) -> Stream {
    match read(payload).unwrap() {
        Value::Stream(stream) => *stream,
        Value::String(_) => panic!("a stream was written"),
    }
}

/// A stream comes back with its nodes, groups and counters, and goes on as the one that was written.
#[test]
fn streams_come_back() {
    let mut with_pending = 0;
    for seed in 0..1_000 {
        let mut stream = any_stream(seed);
        let mut copy = stream_of(&payload_of(&stream));
        copy.check();
        assert_eq!(shown(&copy), shown(&stream), "seed {seed}");
        with_pending += u32::from(
            stream
                .groups()
                .any(|(_, group)| !group.pending().is_empty()),
        );
        let again = payload_of(&copy);
        assert_eq!(shown(&stream_of(&again)), shown(&stream), "seed {seed}");
        let (mut rng, mut other) = (Rng::from_seed(seed), Rng::from_seed(seed));
        let now = UnixMillis(stream.last_id().ms);
        for _ in 0..50 {
            let limits = NodeLimits {
                bytes_max: 0,
                entries_max: 100,
                packs: true,
            };
            change(&mut stream, &mut rng, now, limits);
            change(&mut copy, &mut other, now, limits);
        }
        copy.check();
        assert_eq!(shown(&copy), shown(&stream), "seed {seed}");
    }
    assert!(
        with_pending > 300,
        "only {with_pending} had something pending"
    );
}

/// What was deleted is still counted by the node, of which the length decides when it is full.
#[test]
fn nodes_keep_their_length_when_deleted_entries_were_dropped() {
    let fields = |n: u64| {
        [
            b"name".to_vec(),
            format!("value of number {n}").into_bytes(),
        ]
    };
    let mut stream = Stream::new();
    for n in 1..=60 {
        let fields = fields(n);
        let id = IdRequest::Exact(StreamId::new(n, 0));
        stream
            .append(
                id,
                fields.iter().map(Vec::as_slice),
                UnixMillis(0),
                NodeLimits::default(),
            )
            .unwrap();
    }
    let length = |stream: &Stream| {
        let mut listpack = Vec::new();
        stream
            .log()
            .nodes()
            .for_each(|node| node.put_listpack(&mut listpack));
        listpack.len()
    };
    let whole = length(&stream);
    stream.delete((1..=50).map(|n| StreamId::new(n, 0)));
    let copy = stream_of(&payload_of(&stream));
    for stream in [&stream, &copy] {
        assert!(
            whole.abs_diff(length(stream)) <= 3,
            "{} of {whole}",
            length(stream)
        );
    }
    assert_eq!(shown(&copy), shown(&stream));
}

/// Whatever byte of a payload is another: it is refused, or what comes of it holds together.
#[test]
fn damage_does_no_harm() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..300 {
        let payload = payload_of(&any_stream(seed));
        let body = &payload[..payload.len() - 10];
        let mut rng = Rng::from_seed(seed);
        for _ in 0..30 {
            let mut body = body.to_vec();
            for _ in 0..=rng.below(3) {
                let at = rng.below(body.len());
                body[at] = [
                    0,
                    0xff,
                    body[at].wrapping_add(1),
                    rng.next_u64().to_le_bytes()[0],
                ][rng.below(4)];
            }
            body.truncate(body.len() - [0, rng.below(9)][rng.below(2)].min(body.len()));
            match read(&ended(&body, 11)) {
                Ok(Value::Stream(mut stream)) => {
                    stream.check();
                    for _ in 0..20 {
                        let now = UnixMillis(stream.last_id().ms);
                        change(&mut stream, &mut rng, now, NodeLimits::default());
                    }
                    stream.check();
                    taken += 1;
                }
                Ok(Value::String(_)) => taken += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(
        refused > 1_000 && taken > 300,
        "{refused} refused, {taken} taken"
    );
}

proptest! {
    /// Bytes that were never a payload.
    #[test]
    fn noise_does_no_harm(kind in prop::sample::select(vec![0_u8, 15, 19, 21, 26]), noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut body = vec![kind];
        body.extend(noise);
        if let Ok(Value::Stream(stream)) = read(&ended(&body, 13)) {
            stream.check();
        }
    }
}
