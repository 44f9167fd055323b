//! How fast does a log take entries, by size of entry and by length of the log?
//!
//! The longest log is there to show a cost that grows with it: all lengths should read alike, but for
//! memory that is not in the cache any more when it is used again. Bad news would also be entries with
//! names of their own that cost much more than those that share them.

mod support;

use std::cell::RefCell;

use criterion::BatchSize;
use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::Throughput;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::Log;
use tailrace_storage::Trim;
use tailrace_storage::TrimLimit;

use support::append;
use support::entry;
use support::filled_log;
use support::lengths;

fn by_length(c: &mut Criterion) {
    let mut group = c.benchmark_group("append");
    group.throughput(Throughput::Elements(BATCH));
    for (value_bytes, longest) in [(16, 1_000_000), (1_024, 100_000)] {
        for len in lengths([0, 1_000, longest]) {
            let log = GrowingLog::filled(len, value_bytes);
            let entries = [entry(value_bytes)];
            let id = BenchmarkId::new(format!("{value_bytes}B"), len);
            group.bench_function(id, |b| {
                b.iter_batched(
                    || log.trim_to(len),
                    |()| log.append_batch(&entries),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

fn by_names(c: &mut Criterion) {
    let mut group = c.benchmark_group("append/names");
    group.throughput(Throughput::Elements(BATCH));
    let same = entry(16);
    let mut other = entry(16);
    other[0] = b"pressure".to_vec();
    for (name, entries) in [
        ("shared", vec![same.clone()]),
        ("changing", vec![same, other]),
    ] {
        let log = GrowingLog::filled(0, 16);
        group.bench_function(name, |b| {
            b.iter_batched(
                || log.trim_to(0),
                |()| log.append_batch(&entries),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// A log that is brought back to its length before each measurement, as filling it anew would take
/// longer than all that is measured.
struct GrowingLog {
    state: RefCell<(Log, u64)>,
}

impl GrowingLog {
    fn filled(len: usize, value_bytes: usize) -> Self {
        Self {
            state: RefCell::new((filled_log(len, value_bytes), len as u64)),
        }
    }

    fn trim_to(&self, len: usize) {
        self.state.borrow_mut().0.trim(Trim {
            limit: TrimLimit::MaxLen(len as u64),
            approximate: false,
            entries_max: 0,
        });
    }

    /// Appends the entries in turn.
    fn append_batch(&self, entries: &[Vec<Vec<u8>>]) {
        let (log, next) = &mut *self.state.borrow_mut();
        for entry in entries.iter().cycle().take(BATCH_LEN) {
            append(log, *next, entry);
            *next += 1;
        }
    }
}

/// Appends per measurement: enough to outweigh the timer, few enough to leave the length as it is.
const BATCH: u64 = 100;

const BATCH_LEN: usize = 100;

criterion_group!(benches, by_length, by_names);
criterion_main!(benches);
