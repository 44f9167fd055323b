//! How fast are entries read, by where they lie, by direction, and by length of the log?
//!
//! Bad news would be a place that is found more slowly in a longer log, or a walk back that takes much
//! longer than one ahead: all should read alike, but for the cold memory of the longest log. Long values of old nodes
//! are packed: to read those must not take more than twice as long. To look entries up in order should take a fraction
//! of what each takes alone.

mod support;

use std::hint::black_box;

use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::Throughput;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::Entry;
use tailrace_storage::Log;
use tailrace_storage::Part;
use tailrace_storage::StreamId;
use tailrace_storage::Text;

use support::append;
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

fn packed(c: &mut Criterion) {
    let mut group = c.benchmark_group("range/100 entries of 200 bytes");
    group.throughput(Throughput::Elements(COUNT));
    for len in lengths([1_000, 100_000]) {
        let mut log = Log::new();
        for number in 0..len as u64 {
            let text = format!(
                "{{\"number\":{number},\"text\":\"{}\"}}",
                "abcdefgh".repeat(22)
            );
            append(&mut log, number, &[b"event".to_vec(), text.into_bytes()]);
        }
        // Where the log is long enough, the first are packed and the last are not.
        for (place, number) in [("first", 0), ("last", len as u64 - COUNT)] {
            let from = id(number);
            group.bench_function(BenchmarkId::new(place, len), |b| {
                b.iter(|| read(log.range(black_box(from), StreamId::MAX)));
            });
        }
    }
    group.finish();
}

fn look_up(c: &mut Criterion) {
    let mut group = c.benchmark_group("range/100 entries by ID");
    group.throughput(Throughput::Elements(COUNT));
    for len in lengths([1_000, 1_000_000]) {
        let log = filled_log(len, 16);
        let ids: Vec<StreamId> = (0..COUNT)
            .map(|number| id(len as u64 / 2 + number))
            .collect();
        group.bench_function(BenchmarkId::new("each alone", len), |b| {
            b.iter(|| read(ids.iter().filter_map(|&id| log.get(id))));
        });
        group.bench_function(BenchmarkId::new("in order", len), |b| {
            b.iter(|| {
                let mut lookup = log.lookup();
                read(ids.iter().filter_map(|&id| lookup.get(id)));
            });
        });
    }
    group.finish();
}

/// Reads names and values, as a reply does.
fn read<'a>(entries: impl Iterator<Item = Entry<'a>>) {
    let mut out = Vec::new();
    for entry in entries.take(COUNT_LEN) {
        for (name, value) in black_box(entry).fields() {
            black_box(name);
            out.clear();
            match value {
                Text::Part(Part::Bytes(bytes)) => out.extend_from_slice(bytes),
                Text::Part(Part::Int(number)) => _ = black_box(number),
                Text::Packed(packed) => packed.append_to(&mut out),
            }
            black_box(&out);
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

criterion_group!(benches, walk, seek, packed, look_up);
criterion_main!(benches);
