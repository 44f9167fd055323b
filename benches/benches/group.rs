//! How fast do consumers of a group read entries and acknowledge them, by what else is pending and by
//! how many they are?
//!
//! Bad news would be a cycle that costs more because the group has many consumers, or that costs in
//! proportion to what is pending elsewhere: a search may take a step more each time that doubles.

mod support;

use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::Throughput;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Tracking;

use support::GROUP;
use support::START;
use support::id;
use support::lengths;
use support::stream_with_pending;

fn by_pending(c: &mut Criterion) {
    let mut group = c.benchmark_group("group/read 10 and acknowledge, pending");
    group.throughput(Throughput::Elements(COUNT));
    for pending in lengths([1, 1_000, 1_000_000]) {
        let mut cycle = Cycle::new(pending as u64);
        group.bench_function(BenchmarkId::from_parameter(pending), |b| {
            b.iter(|| cycle.run(b"reader"));
        });
    }
    group.finish();
}

fn by_consumers(c: &mut Criterion) {
    let mut group = c.benchmark_group("group/read 10 and acknowledge, consumers");
    group.throughput(Throughput::Elements(COUNT));
    for consumers in lengths([1, 100, 10_000]) {
        let names: Vec<String> = (0..consumers).map(|n| format!("consumer-{n:05}")).collect();
        let mut names = names.iter().cycle();
        let mut cycle = Cycle::new(1);
        group.bench_function(BenchmarkId::from_parameter(consumers), |b| {
            b.iter(|| cycle.run(names.next().map_or(b"", |name| name.as_bytes())));
        });
    }
    group.finish();
}

/// The same entries over and over: the group is set back before each cycle, when none is pending.
struct Cycle {
    stream: Stream,
    /// The last entry before them, and how many there are up to it.
    before: (StreamId, u64),
    ids: Vec<StreamId>,
}

impl Cycle {
    fn new(pending: u64) -> Self {
        Self {
            stream: stream_with_pending(pending, COUNT),
            before: (id(pending - 1), pending),
            ids: (pending..pending + COUNT).map(id).collect(),
        }
    }

    fn run(&mut self, consumer: &[u8]) {
        let (last_delivered, entries_read) = self.before;
        self.stream
            .set_group_id(GROUP, last_delivered, Some(entries_read))
            .expect("the group is there");
        self.stream
            .read_new(GROUP, consumer, COUNT, Tracking::Pending, START)
            .expect("the group is there");
        let acknowledged = self.stream.acknowledge(GROUP, self.ids.iter().copied());
        assert_eq!(acknowledged, Ok(COUNT));
    }
}

/// Entries in a cycle.
const COUNT: u64 = 10;

criterion_group!(benches, by_pending, by_consumers);
criterion_main!(benches);
