//! Does what a server does most cost the same, however much it holds: entries, pending entries, groups, waiters?
//!
//! Bad news would be a line that rises with what is on its other axis. Searches take a step more where there is ten times
//! as much, and what is cold in the cache costs more than what is warm; anything beyond that is a fault.
//! `tailrace-benches --sweeps FILE` makes a picture of what this finds.

mod support;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use criterion::BatchSize;
use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_storage::GroupReader;
use tailrace_storage::IdRequest;
use tailrace_storage::NodeLimits;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Tracking;
use tailrace_storage::Trim;
use tailrace_storage::TrimLimit;
use tailrace_storage::UnixMillis;
use tailrace_storage::WaitList;
use tailrace_storage::Wants;

use support::GROUP;
use support::HOLDER;
use support::START;
use support::entry;
use support::id;
use support::lengths;

fn by_entries(c: &mut Criterion) {
    for entries in lengths(MANY) {
        let place = Place::new(entries, 0, 0);
        add(c, "entries", entries, &place);
        read_tail(c, "entries", entries, &place);
    }
}

fn by_pending(c: &mut Criterion) {
    for pending in lengths(MANY) {
        let place = Place::new(pending, pending, 0);
        add(c, "pending entries", pending, &place);
        acknowledge(c, "pending entries", pending, &place);
    }
}

fn by_groups(c: &mut Criterion) {
    for groups in lengths(SOME) {
        let place = Place::new(1_000, 0, groups);
        add(c, "groups", groups, &place);
        acknowledge(c, "groups", groups, &place);
    }
}

/// Who waits longest in one group of many waiters is found, leaves, and waits again.
fn wake(c: &mut Criterion) {
    for waiting in lengths(SOME) {
        let mut waits = WaitList::default();
        for _ in 0..waiting {
            waits.insert(wants(), None);
        }
        measure(c, "wake", "waiters", waiting, |b| {
            b.iter(|| {
                let mut round = waits.round(0, KEY);
                let first = waits.next_of(&mut round, 0, KEY, |_| true);
                waits.remove(first.expect("many wait"));
                waits.insert(wants(), None)
            });
        });
    }
}

/// Adds a hundred entries; as many old ones go, without being counted.
fn add(c: &mut Criterion, by: &str, len: usize, place: &Place) {
    measure(c, "add", by, len, |b| {
        b.iter_batched(
            || place.trim(),
            |()| place.append(ADDED),
            BatchSize::PerIteration,
        );
    });
}

/// Reads the last ten entries, as one does who was away for a moment.
fn read_tail(c: &mut Criterion, by: &str, len: usize, place: &Place) {
    let state = place.state.borrow();
    let from = id(state.next - COUNT);
    measure(c, "read", by, len, |b| {
        b.iter(|| {
            let entries = state.stream.log().range(black_box(from), StreamId::MAX);
            let fields = entries.map(|entry| entry.fields().count());
            assert_eq!(fields.sum::<usize>() as u64, COUNT * 2);
        });
    });
}

/// Reads ten new entries for a consumer and acknowledges them.
fn acknowledge(c: &mut Criterion, by: &str, len: usize, place: &Place) {
    measure(c, "acknowledge", by, len, |b| {
        b.iter_batched(
            || {
                place.trim();
                place.append(COUNT)
            },
            |ids| place.read_and_acknowledge(&ids),
            BatchSize::PerIteration,
        );
    });
}

/// Measures under a name that the picture knows.
fn measure(
    c: &mut Criterion,
    action: &str,
    by: &str,
    len: usize,
    run: impl FnMut(&mut criterion::Bencher<'_>),
) {
    let mut group = c.benchmark_group(format!("sweep-{action}-by-{by}"));
    group
        .sample_size(SAMPLES)
        .warm_up_time(WARM_UP)
        .measurement_time(MEASURED);
    group.bench_function(BenchmarkId::from_parameter(len), run);
    group.finish();
}

/// A stream that is brought back to its length before each measurement.
struct Place {
    state: RefCell<State>,
    len: u64,
}

struct State {
    stream: Stream,
    /// The number of the next entry.
    next: u64,
}

impl Place {
    /// Makes a stream of which a group has read all, and left so many pending; and with other groups.
    fn new(entries: usize, pending: usize, groups: usize) -> Self {
        let place = Self {
            state: RefCell::new(State {
                stream: Stream::new(),
                next: 0,
            }),
            len: entries as u64,
        };
        for _ in 0..entries.div_ceil(LAID_OUT_AT_ONCE) {
            place.append(LAID_OUT_AT_ONCE as u64);
        }
        let mut state = place.state.borrow_mut();
        let start = match pending {
            0 => id(state.next - 1),
            _ => StreamId::MIN,
        };
        let stream = &mut state.stream;
        let created = stream.create_group(GROUP, start, None);
        created.expect("the stream is new");
        for _ in 0..pending.div_ceil(LAID_OUT_AT_ONCE) {
            let count = LAID_OUT_AT_ONCE as u64;
            let read = stream.read_new(GROUP, HOLDER, count, Tracking::Pending, START);
            read.expect("the group is there");
        }
        for number in 0..groups {
            let name = format!("other-{number}");
            let created = stream.create_group(name.as_bytes(), start, None);
            created.expect("no two have one name");
        }
        drop(state);
        place
    }

    fn trim(&self) {
        self.state.borrow_mut().stream.trim(Trim {
            limit: TrimLimit::MaxLen(self.len),
            approximate: false,
            entries_max: 0,
        });
    }

    fn append(&self, count: u64) -> Vec<StreamId> {
        let state = &mut *self.state.borrow_mut();
        let entry = entry(16);
        let ids: Vec<StreamId> = (state.next..state.next + count).map(id).collect();
        for &id in &ids {
            let fields = entry.iter().map(Vec::as_slice);
            let request = IdRequest::Exact(id);
            let added = state
                .stream
                .append(request, fields, NOW, NodeLimits::default());
            added.expect("each ID is above the one before");
        }
        state.next += count;
        ids
    }

    fn read_and_acknowledge(&self, ids: &[StreamId]) {
        let stream = &mut self.state.borrow_mut().stream;
        // What was added to measure something else is of no concern here.
        let before = id_before(ids[0]);
        let set = stream.set_group_id(GROUP, before, None);
        set.expect("the group is there");
        let read = stream.read_new(GROUP, b"reader", COUNT, Tracking::Pending, START);
        black_box(read.expect("the group is there"));
        let acknowledged = stream.acknowledge(GROUP, ids.iter().copied());
        assert_eq!(acknowledged, Ok(COUNT));
    }
}

fn id_before(id: StreamId) -> StreamId {
    match id.seq {
        0 => StreamId::new(id.ms - 1, u64::MAX),
        seq => StreamId::new(id.ms, seq - 1),
    }
}

fn wants() -> Wants {
    Wants {
        db: 0,
        keys: vec![Box::from(KEY)],
        reader: Some(GroupReader {
            group: Box::from(GROUP),
            consumer: Box::from(HOLDER),
        }),
    }
}

const KEY: &[u8] = b"key";

/// What an entry or a pending entry takes lets ten million of them lie in a common machine.
const MANY: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// A group or a waiter takes some hundred bytes, so there are fewer.
const SOME: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Entries in a measurement of adding.
const ADDED: u64 = 100;

/// Entries that are read.
const COUNT: u64 = 10;

/// Entries that are added and read at once while a stream is laid out: as many as the fewest.
const LAID_OUT_AT_ONCE: usize = 1_000;

const NOW: UnixMillis = START;

const SAMPLES: usize = 30;

const WARM_UP: Duration = Duration::from_millis(200);

const MEASURED: Duration = Duration::from_millis(800);

criterion_group!(benches, by_entries, by_pending, by_groups, wake);
criterion_main!(benches);
