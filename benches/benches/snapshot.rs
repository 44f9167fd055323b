//! How long does a copy of all data take, and going back to one?
//!
//! Bad news would be 5 ms or more for a hundred thousand entries with ten thousand pending: that is what a test would
//! wait before each of its cases.

mod support;

use std::hint::black_box;

use criterion::BatchSize;
use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::GroupStart;
use tailrace_storage::IdRequest;
use tailrace_storage::MissingStream;
use tailrace_storage::Settings;
use tailrace_storage::Store;
use tailrace_storage::StreamId;
use tailrace_storage::Tracking;

use support::GROUP;
use support::HOLDER;
use support::id;
use support::lengths;

fn snapshots(c: &mut Criterion) {
    let mut group = c.benchmark_group("snapshot/entries, a tenth pending");
    for (entries, value_bytes) in lengths([1_000, 100_000]).flat_map(with_values) {
        let mut store = filled(entries as u64, value_bytes);
        let name = |what| BenchmarkId::new(what, format!("{entries} of {value_bytes} B"));
        group.bench_function(name("save"), |b| {
            b.iter_with_large_drop(|| black_box(store.snapshot()));
        });
        let snapshot = store.snapshot();
        group.bench_function(name("restore"), |b| {
            b.iter_batched(
                || (),
                |()| store.restore_snapshot(snapshot.clone()),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// Short and longer values.
fn with_values(entries: usize) -> [(usize, usize); 2] {
    [(entries, 16), (entries, 100)]
}

/// A stream of so many entries, a tenth of which are pending.
fn filled(entries: u64, value_bytes: usize) -> Store {
    let mut store = Store::new(16, 0, Settings::default());
    let value = "v".repeat(value_bytes);
    for number in 0..entries {
        let value = format!("{number:08}{value}");
        let fields = [&b"field"[..], &value.as_bytes()[..value_bytes]].into_iter();
        store
            .append(
                0,
                KEY,
                IdRequest::Exact(id(number + 1)),
                fields,
                MissingStream::Create,
                None,
            )
            .expect("the ID is above the last");
    }
    store
        .create_group(
            0,
            KEY,
            GROUP,
            GroupStart::After(StreamId::MIN),
            None,
            MissingStream::Leave,
        )
        .expect("the stream is there");
    store
        .read_new(0, KEY, GROUP, HOLDER, entries / 10, Tracking::Pending)
        .expect("the group is there");
    store
}

const KEY: &[u8] = b"stream";

criterion_group!(benches, snapshots);
criterion_main!(benches);
