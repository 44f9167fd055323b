//! The pending list against a plain ordered map.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;

use super::*;

type Model = BTreeMap<StreamId, PendingEntry>;

/// Bulk operations, so that a few of them fill, empty, split and join runs.
#[derive(Clone, Debug)]
enum Op {
    /// Adds behind everything else, as reading new entries does.
    Append { count: u64, shape: Shape },
    /// Adds or replaces anywhere, as a claim by force or a group set back does.
    Insert { ids: Range<u64>, shape: Shape },
    /// Adds or replaces anywhere at once, as reading does after a group was set back.
    InsertAll { ids: Range<u64>, shape: Shape },
    /// Takes out those from the first on that are there, as acknowledging what was read does.
    RemoveAll { ids: Range<u64>, reversed: bool },
    /// Takes out every `step`th, as acknowledging does.
    Remove { ids: Range<u64>, step: usize },
    /// Goes through a part of the list as claims do.
    Walk {
        from: u64,
        budget: u64,
        idle_until: u64,
        to: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    consumer: u32,
    delivered_at: u64,
    deliveries: u64,
}

impl Shape {
    fn entry(self, ms: u64) -> PendingEntry {
        PendingEntry {
            id: StreamId::new(ms, 0),
            consumer: ConsumerIndex(self.consumer),
            delivered_at: UnixMillis(self.delivered_at),
            deliveries: self.deliveries,
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1..200u64, shape()).prop_map(|(count, shape)| Op::Append { count, shape }),
        2 => (ids(20), shape()).prop_map(|(ids, shape)| Op::Insert { ids, shape }),
        2 => (ids(300), shape()).prop_map(|(ids, shape)| Op::Insert { ids, shape }),
        2 => (ids(300), shape()).prop_map(|(ids, shape)| Op::InsertAll { ids, shape }),
        2 => (ids(300), any::<bool>()).prop_map(|(ids, reversed)| Op::RemoveAll { ids, reversed }),
        4 => (ids(400), 1..6usize).prop_map(|(ids, step)| Op::Remove { ids, step }),
        3 => (0..1_000u64, 0..400u64, 0..100u64, 0..70u32).prop_map(
            |(from, budget, idle_until, to)| Op::Walk { from, budget, idle_until, to }
        ),
    ]
}

fn ids(most: u64) -> impl Strategy<Value = Range<u64>> {
    (0..1_000u64, 1..most).prop_map(|(from, count)| from..from + count)
}

fn shape() -> impl Strategy<Value = Shape> {
    let deliveries = prop_oneof![
        8 => 0..5u64,
        1 => (u64::from(u32::MAX) - 1)..(u64::from(u32::MAX) + 2),
        1 => Just(u64::MAX),
    ];
    (0..70u32, 0..100u64, deliveries).prop_map(|(consumer, delivered_at, deliveries)| Shape {
        consumer,
        delivered_at,
        deliveries,
    })
}

fn filter() -> impl Strategy<Value = PendingFilter> {
    (
        0..1_000u64,
        0..1_500u64,
        prop::option::of(0..70u32),
        0..100u64,
    )
        .prop_map(|(from, to, consumer, min)| PendingFilter {
            from: StreamId::new(from, 0),
            to: StreamId::new(to, 0),
            consumer: consumer.map(ConsumerIndex),
            idle: IdleFilter {
                now: UnixMillis(100),
                min: Millis(min),
            },
        })
}

/// Claims what was delivered until some time and drops a few IDs, up to a budget.
struct Sweep {
    budget: u64,
    idle_until: UnixMillis,
    to: ConsumerIndex,
    may_pass_over: bool,
}

impl Sweep {
    fn drops(id: StreamId) -> bool {
        id.ms.is_multiple_of(700)
    }
}

impl Visitor for Sweep {
    fn passes_over(&mut self, run: RunFacts) -> bool {
        let drops_none = (run.first.ms..=run.last.ms).all(|ms| !Self::drops(StreamId::new(ms, 0)));
        let count = run.count as u64;
        let passes = self.may_pass_over
            && run.oldest > self.idle_until
            && count <= self.budget
            && drops_none;
        if passes {
            self.budget -= count;
        }
        passes
    }

    fn visit(&mut self, entry: PendingEntry) -> Verdict {
        if self.budget == 0 {
            return Verdict::Stop;
        }
        self.budget -= 1;
        if Self::drops(entry.id) {
            Verdict::Remove
        } else if entry.delivered_at <= self.idle_until {
            Verdict::Replace(PendingEntry {
                consumer: self.to,
                delivered_at: UnixMillis(100),
                deliveries: entry.deliveries.saturating_add(1),
                ..entry
            })
        } else {
            Verdict::Keep
        }
    }
}

/// The same walk over the model, entry by entry.
fn walk_model(model: &mut Model, from: StreamId, visitor: &mut Sweep) -> Option<StreamId> {
    for id in model.range(from..).map(|(&id, _)| id).collect::<Vec<_>>() {
        match visitor.visit(model[&id]) {
            Verdict::Keep => {}
            Verdict::Replace(new) => {
                model.insert(id, new);
            }
            Verdict::Remove => {
                model.remove(&id);
            }
            Verdict::Stop => return Some(id),
        }
    }
    None
}

fn apply(op: Op, pending: &mut Pending, model: &mut Model) {
    match op {
        Op::Append { count, shape } => {
            let next = model.last_key_value().map_or(0, |(id, _)| id.ms + 1);
            insert_all(pending, model, next..next + count, shape);
        }
        Op::InsertAll { ids, shape } => insert_all(pending, model, ids, shape),
        Op::Insert { ids, shape } => {
            for ms in ids {
                let entry = shape.entry(ms);
                assert_eq!(pending.insert(entry), model.insert(entry.id, entry));
            }
        }
        Op::RemoveAll { ids, reversed } => {
            let mut ids: Vec<_> = ids.map(|ms| StreamId::new(ms, 0)).collect();
            if reversed {
                ids.reverse();
            }
            let removed = ids.iter().filter(|&id| model.remove(id).is_some()).count();
            assert_eq!(pending.remove_all(ids), removed as u64);
        }
        Op::Remove { ids, step } => {
            for id in ids.step_by(step).map(|ms| StreamId::new(ms, 0)) {
                assert_eq!(pending.get(id), model.get(&id).copied());
                assert_eq!(pending.remove(id), model.remove(&id));
                assert_eq!(pending.get(id), None);
            }
        }
        Op::Walk {
            from,
            budget,
            idle_until,
            to,
        } => {
            let sweep = |may_pass_over| Sweep {
                budget,
                idle_until: UnixMillis(idle_until),
                to: ConsumerIndex(to),
                may_pass_over,
            };
            let from = StreamId::new(from, 0);
            let stopped = pending.walk(from, &mut sweep(true));
            assert_eq!(stopped, walk_model(model, from, &mut sweep(false)));
        }
    }
}

fn insert_all(pending: &mut Pending, model: &mut Model, ids: Range<u64>, shape: Shape) {
    let (count, last) = (ids.clone().count(), StreamId::new(ids.end - 1, 0));
    for entry in ids.clone().map(|ms| shape.entry(ms)) {
        model.insert(entry.id, entry);
    }
    let like = shape.entry(ids.start);
    let ids = ids.map(|ms| StreamId::new(ms, 0));
    assert_eq!(pending.insert_all(like, ids, count), Some(last));
}

fn assert_same(pending: &Pending, model: &Model, filter: PendingFilter) {
    pending.check();
    assert_eq!(pending.len(), model.len());
    assert_eq!(pending.first_id(), model.keys().next().copied());
    assert_eq!(pending.last_id(), model.keys().next_back().copied());
    let all = pending.iter(PendingFilter::default());
    assert!(all.eq(model.values().copied()));

    let expected = model.values().copied().filter(|entry| {
        (filter.from..=filter.to).contains(&entry.id)
            && filter.consumer.is_none_or(|of| of == entry.consumer)
            && entry.idle(filter.idle.now) >= filter.idle.min
    });
    assert!(pending.iter(filter).eq(expected));

    let mut counts = [0; 70];
    for entry in model.values() {
        counts[entry.consumer.as_usize()] += 1;
    }
    for (consumer, count) in (0..).zip(counts) {
        assert_eq!(pending.count_of(ConsumerIndex(consumer)), count);
    }
}

proptest! {
    /// Whatever comes and goes, and in whatever order, the list holds and shows what an ordered
    /// map would.
    #[test]
    fn the_list_is_an_ordered_map(steps in prop::collection::vec((op(), filter()), 0..25)) {
        let (mut pending, mut model) = (Pending::default(), Model::new());
        for (op, filter) in steps {
            apply(op, &mut pending, &mut model);
            assert_same(&pending, &model, filter);
            assert_same(&pending.clone(), &model, filter);
        }
    }
}

/// Memory follows what is pending, not what once was: whichever few of many are left, they do not
/// hold the runs of all others.
#[test]
fn a_few_that_stay_hold_little_memory() {
    let shape = Shape {
        consumer: 0,
        delivered_at: 0,
        deliveries: 1,
    };
    for step in [50, 130, 1_000] {
        let mut pending = Pending::default();
        for ms in 0..100_000 {
            pending.insert(shape.entry(ms));
        }
        let full = pending.bytes();
        for ms in (0..100_000).filter(|ms| ms % step != 0) {
            pending.remove(StreamId::new(ms, 0));
        }
        pending.check();
        assert!(
            pending.bytes() * 4 < full,
            "{step}: {} of {full}",
            pending.bytes()
        );
    }
}

#[test]
fn a_million_entries_take_little_more_than_16_bytes_each() {
    let shape = Shape {
        consumer: 0,
        delivered_at: 0,
        deliveries: 1,
    };
    let mut pending = Pending::default();
    for ms in 0..1_000_000 {
        pending.insert(shape.entry(ms));
    }
    assert!(pending.bytes() < 17_000_000, "{}", pending.bytes());
}

/// Filling a gap once split a run whose upper half was all acknowledged, and kept a run without
/// entries.
#[test]
fn filling_a_gap_keeps_no_run_of_acknowledged_entries() {
    let shape = Shape {
        consumer: 0,
        delivered_at: 0,
        deliveries: 1,
    };
    let mut pending = Pending::default();
    for ms in (0..33).chain(69..164) {
        pending.insert(shape.entry(ms));
    }
    for ms in 69..164 {
        pending.remove(StreamId::new(ms, 0));
    }
    for ms in 33..69 {
        pending.insert(shape.entry(ms));
        pending.check();
    }
}
