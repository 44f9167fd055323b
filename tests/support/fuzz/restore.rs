//! Payloads for RESTORE. Whatever one says, it is refused, or what comes of it holds together, goes on as any other stream
//! does, and is written and read again as it is.
//!
//! An input is what goes on with the stream, a byte for each step and its number in front; then a byte that says of which
//! version of the format it is; then the type and the value. The checksum is added, so that the inside is reached.

use tailrace_storage::ClaimShown;
use tailrace_storage::ClaimTime;
use tailrace_storage::IdRequest;
use tailrace_storage::Millis;
use tailrace_storage::NodeLimits;
use tailrace_storage::PayloadRules;
use tailrace_storage::PendingFilter;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Tracking;
use tailrace_storage::Trim;
use tailrace_storage::TrimLimit;
use tailrace_storage::UnixMillis;
use tailrace_storage::Value;
use tailrace_storage::Versions;
use tailrace_storage::end_payload;

use super::bytes::Bytes;

pub(super) fn run(input: &[u8]) {
    let (steps, payload) = parts(input);
    let Some(value) = read(&payload) else {
        return;
    };
    let mut value = assert_comes_back(value);
    if let Value::Stream(stream) = &mut value {
        for step in steps {
            go_on(stream, *step);
            stream.check();
        }
        assert_comes_back(value);
    }
}

/// A payload of those that fuzzing starts from.
pub(super) fn payload(number: usize) -> Vec<u8> {
    parts(SEEDS[number % SEEDS.len()]).1
}

/// What goes on with a stream, and the payload.
fn parts(input: &[u8]) -> (&[u8], Vec<u8>) {
    let mut bytes = Bytes::new(input);
    let count = bytes.below(STEPS_MAX);
    let steps = bytes.take(count);
    let version = bytes.one_of(VERSIONS);
    let body = bytes.take(input.len()).to_vec();
    (steps, end_payload(body, version))
}

fn read(payload: &[u8]) -> Option<Value> {
    let value = Value::from_payload(payload, RULES).ok()?;
    if let Value::Stream(stream) = &value {
        stream.check();
    }
    Some(value)
}

/// A value that was written and read is written as before, but that deleted entries may be others at first.
fn assert_comes_back(value: Value) -> Value {
    let written = value.to_payload();
    let again = read(&written).expect("what was written is read");
    let settled = again.to_payload();
    let third = read(&settled).expect("what was written again is read");
    assert!(third.to_payload() == settled, "it changes as it is written");
    assert_eq!(facts(&again), facts(&value));
    value
}

/// What is the same however a value is kept.
fn facts(value: &Value) -> Vec<u64> {
    match value {
        Value::String(string) => vec![string.len() as u64],
        Value::Stream(stream) => {
            let log = stream.log();
            let groups = stream.groups().map(|(_, group)| group);
            let pending = groups.map(|group| group.pending().len() as u64);
            let ids = [stream.first_id(), stream.last_id(), stream.max_deleted_id()];
            let ids = ids.into_iter().flat_map(|id| [id.ms, id.seq]);
            let counts = [log.len(), log.node_count() as u64, stream.entries_added()];
            counts.into_iter().chain(ids).chain(pending).collect()
        }
    }
}

/// Does something that clients do with streams.
fn go_on(stream: &mut Stream, step: u8) {
    let names: Vec<Box<[u8]>> = stream.groups().map(|(name, _)| name.into()).collect();
    let name: &[u8] = names.first().map_or(b"g", |name| name);
    let pick = usize::from(step >> 4);
    let id = stream.log().iter().nth(pick).map(|entry| entry.id());
    let now = UnixMillis(1_000);
    // What is refused, and what finds nothing, is as good.
    match step & 7 {
        0 | 1 => {
            let fields = [&b"f"[..], &b"value of some length"[..pick]];
            let limits = NodeLimits::default();
            let _ = stream.append(IdRequest::Auto, fields.into_iter(), now, limits);
        }
        2 => drop(stream.read_new(name, b"c", 3, Tracking::Pending, now)),
        3 => drop(stream.delete(id)),
        4 => drop(stream.trim(Trim {
            limit: match id {
                Some(id) => TrimLimit::MinId(id),
                None => TrimLimit::MaxLen(pick as u64),
            },
            approximate: step & 8 == 0,
            entries_max: 0,
        })),
        5 => drop(stream.create_group(b"g", StreamId::MIN, None)),
        6 => claim(stream, name, now),
        _ => {
            let first = stream
                .group(name)
                .and_then(|group| group.pending().first_id());
            let _ = stream.acknowledge(name, first);
        }
    }
}

fn claim(stream: &mut Stream, group: &[u8], now: UnixMillis) {
    let pending = stream.group(group).map(|group| group.pending());
    let ids: Vec<StreamId> = pending
        .into_iter()
        .flat_map(|pending| pending.iter(PendingFilter::default()))
        .map(|entry| entry.id)
        .collect();
    let claim = tailrace_storage::Claim {
        ids: &ids,
        idle_min: Millis(1),
        time: ClaimTime::Now,
        deliveries: None,
        force: false,
        shown: ClaimShown::Entry,
        last_id: StreamId::MIN,
    };
    let _ = stream.claim(group, b"c", &claim, now);
}

const STEPS_MAX: usize = 16;
const VERSIONS: &[u16] = &[11, 13, 80];
const RULES: PayloadRules = PayloadRules {
    versions: Versions::Known,
    string_bytes_max: 1 << 20,
    packs: true,
};
const SEEDS: &[&[u8]] = &[
    include_bytes!("../../../fuzz/seeds/restore/a_string"),
    include_bytes!("../../../fuzz/seeds/restore/a_packed_string"),
    include_bytes!("../../../fuzz/seeds/restore/a_stream"),
    include_bytes!("../../../fuzz/seeds/restore/a_stream_of_redis"),
    include_bytes!("../../../fuzz/seeds/restore/a_stream_with_gaps"),
];
