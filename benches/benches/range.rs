//! How fast are entries read, by where they lie, by direction, and by length of the log?
//!
//! Bad news would be a place that is found more slowly in a longer log, or a walk back that takes much
//! longer than one ahead: all should read alike, but for the cold memory of the longest log.

mod support;

use std::hint::black_box;

use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::Throughput;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::Entry;
use tailrace_storage::Log;
use tailrace_storage::StreamId;

use support::filled_log;
use support::id;
use support::lengths;

fn walk(c: &mut Criterion) {
    let mut group = c.benchmark_group("range/100 entries");
    group.throughput(Throughput::Elements(COUNT));
    for len in lengths([1_000, 100_000, 1_000_000]) {
        let log = filled_log(len, 16);
        let last = len as u64 - COUNT;
        for (place, number) in [("first", 0), ("middle", last / 2), ("last", last)] {
            let from = id(number);
            group.bench_function(BenchmarkId::new(format!("ahead/{place}"), len), |b| {
                b.iter(|| read(log.range(black_box(from), StreamId::MAX)));
            });
            let to = id(number + COUNT - 1);
            group.bench_function(BenchmarkId::new(format!("back/{place}"), len), |b| {
                b.iter(|| read(log.range(StreamId::MIN, black_box(to)).rev()));
            });
        }
    }
    group.finish();
}

fn seek(c: &mut Criterion) {
    let mut group = c.benchmark_group("range/one entry");
    for len in lengths([100, 10_000, 1_000_000]) {
        let log = filled_log(len, 16);
        let mut places = Places::of(&log);
        group.bench_function(BenchmarkId::new("get", len), |b| {
            b.iter(|| log.get(places.next()).map(|entry| entry.id()));
        });
    }
    group.finish();
}

/// Reads names and values, as a reply does.
fn read<'a>(entries: impl Iterator<Item = Entry<'a>>) {
    for entry in entries.take(COUNT_LEN) {
        for field in black_box(entry).fields() {
            black_box(field);
        }
    }
}

/// Places all over a log, none near the one before.
struct Places {
    len: u64,
    at: u64,
}

impl Places {
    fn of(log: &Log) -> Self {
        Self {
            len: log.len(),
            at: 0,
        }
    }

    fn next(&mut self) -> StreamId {
        self.at = (self.at + STRIDE) % self.len;
        id(self.at)
    }
}

/// Entries in one walk, as `COUNT 100` asks for.
const COUNT: u64 = 100;

const COUNT_LEN: usize = 100;

/// A prime beyond the entries of a node.
const STRIDE: u64 = 7_919;

criterion_group!(benches, walk, seek);
criterion_main!(benches);
