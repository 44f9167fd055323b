//! What does it cost to find and to claim pending entries, by how many there are?
//!
//! Bad news would be a look for idle entries that takes longer per pending entry when there are more, or
//! more than a nanosecond or two each where nothing is idle: runs of entries are to be passed over.
//! Claiming a hundred should cost the same whatever else is pending, but for cold memory.

mod support;

use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::Throughput;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::AutoClaim;
use tailrace_storage::AutoClaimed;
use tailrace_storage::Claim;
use tailrace_storage::ClaimShown;
use tailrace_storage::Millis;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::UnixMillis;

use support::GROUP;
use support::START;
use support::id;
use support::lengths;
use support::stream_with_pending;

fn nothing_idle(c: &mut Criterion) {
    let mut group = c.benchmark_group("claim/nothing is idle");
    for pending in pending_lengths() {
        let mut stream = stream_with_pending(pending as u64, 0);
        group.throughput(Throughput::Elements(pending as u64));
        group.bench_function(BenchmarkId::new("auto, to the end", pending), |b| {
            b.iter(|| {
                let mut start = Some(StreamId::MIN);
                while let Some(from) = start {
                    start = auto_claim(&mut stream, from, START).next;
                }
            });
        });
        group.bench_function(BenchmarkId::new("range of idle", pending), |b| {
            let group = stream.group(GROUP).expect("the group is there");
            b.iter(|| {
                let range = (StreamId::MIN, StreamId::MAX);
                let idle = group.pending_range(range.0, range.1, None, IDLE, START);
                assert_eq!(idle.count(), 0);
            });
        });
    }
    group.finish();
}

fn all_idle(c: &mut Criterion) {
    let mut group = c.benchmark_group("claim/100 entries");
    group.throughput(Throughput::Elements(COUNT));
    for pending in pending_lengths() {
        let mut stream = stream_with_pending(pending as u64, 0);
        let mut now = START;
        group.bench_function(BenchmarkId::new("auto", pending), |b| {
            b.iter(|| {
                now = now + IDLE;
                let claimed = auto_claim(&mut stream, StreamId::MIN, now).claimed;
                assert_eq!(claimed.len() as u64, COUNT);
            });
        });
        let stride = pending as u64 / COUNT;
        let ids: Vec<StreamId> = (0..COUNT).map(|number| id(number * stride)).collect();
        group.bench_function(BenchmarkId::new("by id", pending), |b| {
            b.iter(|| {
                let claim = Claim {
                    ids: &ids,
                    ..Claim::default()
                };
                let claimed = stream.claim(GROUP, CLAIMER, &claim, now);
                claimed.expect("the group is there").ids.len()
            });
        });
    }
    group.finish();
}

fn auto_claim(stream: &mut Stream, start: StreamId, now: UnixMillis) -> AutoClaimed {
    let ask = AutoClaim {
        start,
        idle_min: IDLE,
        count_max: COUNT,
        shown: ClaimShown::Entry,
    };
    stream
        .auto_claim(GROUP, CLAIMER, ask, now)
        .expect("the group is there")
}

fn pending_lengths() -> impl Iterator<Item = usize> {
    lengths([1_000, 100_000, 1_000_000])
}

const CLAIMER: &[u8] = b"claimer";

/// Entries in a claim.
const COUNT: u64 = 100;

/// What counts as idle.
const IDLE: Millis = Millis(60_000);

criterion_group!(benches, nothing_idle, all_idle);
criterion_main!(benches);
