//! The store against a plain map: random operations, the same answers, the same contents.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::expire::{ExpireCondition, ExpireOutcome};
use crate::id::IdRequest;
use crate::integer::Digits;
use crate::slot::key_slot;
use crate::time::Millis;

const DATABASES: usize = 2;
const KEYS: u8 = 6;

#[derive(Clone, Debug)]
enum Op {
    Set(Place, String, SetExpiry),
    Append(Place, String),
    SetRange(Place, usize, String),
    Increment(Place, i64),
    Add(Place),
    Remove(Place),
    Rename(Place, u8),
    RenameNx(Place, u8),
    Copy(Place, Place, bool),
    Move(Place),
    Swap,
    Flush(usize),
    RemoveSlot(u8),
    ExpireAt(Place, u64),
    Persist(Place),
    Advance(u64),
    ExpireDue(usize),
}

/// A database and a key.
type Place = (usize, u8);

fn place() -> impl Strategy<Value = Place> {
    (0..DATABASES, 0..KEYS)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[0-9]{1,3}", "[a-c]{0,5}", "x{100,200}"]
}

/// A point in time not far from the times that a test goes through.
fn deadline() -> impl Strategy<Value = u64> {
    0..60_u64
}

fn expiry() -> impl Strategy<Value = SetExpiry> {
    prop_oneof![
        Just(SetExpiry::Clear),
        Just(SetExpiry::Keep),
        deadline().prop_map(|at| SetExpiry::At(UnixMillis(at))),
        deadline().prop_map(|at| SetExpiry::AtEvenIfPast(UnixMillis(at))),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (place(), text(), expiry()).prop_map(|(at, text, expiry)| Op::Set(at, text, expiry)),
        1 => (place(), text()).prop_map(|(at, text)| Op::Append(at, text)),
        1 => (place(), 0..9_usize, text()).prop_map(|(at, offset, text)| Op::SetRange(at, offset, text)),
        1 => (place(), -9..9_i64).prop_map(|(at, by)| Op::Increment(at, by)),
        3 => place().prop_map(Op::Add),
        2 => place().prop_map(Op::Remove),
        1 => (place(), 0..KEYS).prop_map(|(at, to)| Op::Rename(at, to)),
        1 => (place(), 0..KEYS).prop_map(|(at, to)| Op::RenameNx(at, to)),
        1 => (place(), place(), any::<bool>()).prop_map(|(from, to, replace)| Op::Copy(from, to, replace)),
        1 => place().prop_map(Op::Move),
        1 => Just(Op::Swap),
        1 => (0..DATABASES).prop_map(Op::Flush),
        1 => (0..KEYS).prop_map(Op::RemoveSlot),
        2 => (place(), deadline()).prop_map(|(at, deadline)| Op::ExpireAt(at, deadline)),
        1 => place().prop_map(Op::Persist),
        2 => (0..9_u64).prop_map(Op::Advance),
        1 => (0..4_usize).prop_map(Op::ExpireDue),
    ]
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Text(Vec<u8>),
    Entries(u64),
}

/// What a key holds and until when.
type Held = (Content, Option<u64>);

#[derive(Clone, Default)]
struct Model {
    now: u64,
    held: BTreeMap<Place, Held>,
}

impl Model {
    fn get(&self, at: Place) -> Option<&Held> {
        let is_live = |held: &&Held| held.1.is_none_or(|deadline| deadline >= self.now);
        self.held.get(&at).filter(is_live)
    }

    fn live(&self) -> BTreeMap<Place, Held> {
        let held = self.held.keys().filter_map(|&at| Some((at, self.get(at)?)));
        held.map(|(at, held)| (at, held.clone())).collect()
    }

    fn text(&self, at: Place) -> Option<Vec<u8>> {
        match self.get(at) {
            Some((Content::Text(text), _)) => Some(text.clone()),
            Some(_) => None,
            None => Some(Vec::new()),
        }
    }

    fn put(&mut self, at: Place, content: Content) {
        let deadline = self.get(at).and_then(|held| held.1);
        self.held.insert(at, (content, deadline));
    }

    fn rename(&mut self, from: Place, to: Place) {
        if from != to
            && let Some(held) = self.held.remove(&from)
        {
            self.held.insert(to, held);
        }
    }
}

/// The keys lie in two hash slots.
fn key(number: u8) -> Vec<u8> {
    vec![b'{', number % 2, b'}', number]
}

/// What the store holds, without leaving a trace.
fn contents(store: &Store) -> BTreeMap<Place, Held> {
    let mut contents = BTreeMap::new();
    for db in 0..DATABASES {
        for (key, value) in store.keys(db) {
            let content = match value {
                Value::String(string) => {
                    Content::Text(string.bytes_with(&mut Digits::default()).to_vec())
                }
                Value::Stream(stream) => Content::Entries(stream.len()),
            };
            let keyspace = &store.keyspaces[db];
            let at = keyspace.find(key).unwrap();
            let deadline = keyspace.record(at).deadline().map(|deadline| deadline.0);
            contents.insert((db, key[3]), (content, deadline));
        }
    }
    contents
}

/// Does the same to both and compares the answers.
fn apply(store: &mut Store, model: &mut Model, op: &Op) {
    match op {
        Op::Set(at, text, expiry) => set(store, model, *at, text, *expiry),
        Op::Append(at, text) => {
            let answer = store.append_string(at.0, &key(at.1), text.as_bytes());
            let expected = model.text(*at).map(|old| [&old, text.as_bytes()].concat());
            assert_eq!(answer.ok(), expected.as_ref().map(Vec::len));
            if let Some(new) = expected {
                model.put(*at, Content::Text(new));
            }
        }
        Op::SetRange(at, offset, text) => {
            let answer = store.set_range(at.0, &key(at.1), *offset, text.as_bytes());
            let expected = model.text(*at).map(|mut old| {
                if !text.is_empty() {
                    old.resize(old.len().max(offset + text.len()), 0);
                    old[*offset..offset + text.len()].copy_from_slice(text.as_bytes());
                    model.put(*at, Content::Text(old.clone()));
                }
                old.len()
            });
            assert_eq!(answer.ok(), expected);
        }
        Op::Increment(at, by) => {
            let answer = store.increment(at.0, &key(at.1), *by);
            let sum = match model.get(*at) {
                None => Some(*by),
                Some((Content::Text(text), _)) => {
                    let value = String::from_utf8_lossy(text).parse::<i64>().ok();
                    let canonical = |value: &i64| value.to_string().as_bytes() == text;
                    value.filter(canonical).map(|value| value + by)
                }
                Some(_) => None,
            };
            assert_eq!(answer.ok(), sum);
            if let Some(sum) = sum {
                model.put(*at, Content::Text(sum.to_string().into_bytes()));
            }
        }
        Op::Add(at) => {
            let fields = [b"name".as_slice(), b"value".as_slice()];
            let missing = MissingStream::Create;
            let auto = IdRequest::Auto;
            let answer = store.append(at.0, &key(at.1), auto, fields.into_iter(), missing, None);
            let len = match model.get(*at) {
                None => Some(0),
                Some((Content::Entries(len), _)) => Some(*len),
                Some(_) => None,
            };
            assert_eq!(answer.is_ok(), len.is_some());
            if let Some(len) = len {
                model.put(*at, Content::Entries(len + 1));
            }
        }
        _ => apply_to_keys(store, model, op),
    }
}

fn set(store: &mut Store, model: &mut Model, at: Place, text: &str, expiry: SetExpiry) {
    let options = SetOptions {
        expiry,
        ..SetOptions::default()
    };
    let answer = store.set(at.0, &key(at.1), text.as_bytes(), options);
    assert_eq!(answer, Ok(SetOutcome::Done));
    model.put(at, Content::Text(text.as_bytes().to_vec()));
    let held = model.held.get_mut(&at).unwrap();
    match expiry {
        SetExpiry::Keep => {}
        SetExpiry::Clear => held.1 = None,
        SetExpiry::At(deadline) if deadline.0 <= model.now => {
            model.held.remove(&at);
        }
        SetExpiry::At(deadline) | SetExpiry::AtEvenIfPast(deadline) => held.1 = Some(deadline.0),
    }
}

fn apply_to_keys(store: &mut Store, model: &mut Model, op: &Op) {
    match *op {
        Op::Remove(at) => {
            assert_eq!(store.remove(at.0, &key(at.1)), model.get(at).is_some());
            model.held.remove(&at);
        }
        Op::Rename(at, to) => {
            let answer = store.rename(at.0, &key(at.1), &key(to));
            assert_eq!(answer.is_ok(), model.get(at).is_some());
            if answer.is_ok() {
                model.rename(at, (at.0, to));
            }
        }
        Op::RenameNx(at, to) => {
            let answer = store.rename_nx(at.0, &key(at.1), &key(to));
            let is_free = model.get((at.0, to)).is_none();
            assert_eq!(answer.ok(), model.get(at).map(|_| is_free));
            if answer == Ok(true) {
                model.rename(at, (at.0, to));
            }
        }
        Op::Copy(from, to, replace) if from != to => {
            let answer = store.copy(from.0, &key(from.1), to.0, &key(to.1), replace);
            let is_free = replace || model.get(to).is_none();
            assert_eq!(answer, model.get(from).is_some() && is_free);
            if answer {
                let held = model.held[&from].clone();
                model.held.insert(to, held);
            }
        }
        Op::Move(at) => {
            let to = (1 - at.0, at.1);
            let answer = store.move_key(at.0, &key(at.1), to.0);
            assert_eq!(answer, model.get(at).is_some() && model.get(to).is_none());
            if answer {
                model.rename(at, to);
            }
        }
        Op::Swap => {
            store.swap_dbs(0, 1);
            let held = std::mem::take(&mut model.held);
            let swapped = held.into_iter().map(|(at, held)| ((1 - at.0, at.1), held));
            model.held = swapped.collect();
        }
        Op::Flush(db) => {
            drop(store.flush_db(db));
            model.held.retain(|at, _| at.0 != db);
        }
        Op::RemoveSlot(number) => {
            store.remove_slot(key_slot(&key(number)), Event::Del);
            model.held.retain(|at, _| at.1 % 2 != number % 2);
        }
        _ => apply_to_time(store, model, op),
    }
}

fn apply_to_time(store: &mut Store, model: &mut Model, op: &Op) {
    match *op {
        Op::ExpireAt(at, deadline) => {
            let condition = ExpireCondition::default();
            let answer = store.expire_at(at.0, &key(at.1), UnixMillis(deadline), condition);
            let expected = match model.get(at) {
                None => ExpireOutcome::Refused,
                Some(_) if deadline <= model.now => ExpireOutcome::Removed,
                Some(_) => ExpireOutcome::Set,
            };
            assert_eq!(answer, expected);
            match expected {
                ExpireOutcome::Refused => {}
                ExpireOutcome::Removed => drop(model.held.remove(&at)),
                ExpireOutcome::Set => model.held.get_mut(&at).unwrap().1 = Some(deadline),
            }
        }
        Op::Persist(at) => {
            let expected = model.get(at).is_some_and(|held| held.1.is_some());
            assert_eq!(store.persist(at.0, &key(at.1)), expected);
            if expected {
                model.held.get_mut(&at).unwrap().1 = None;
            }
        }
        Op::Advance(by) => {
            model.now += by;
            store.set_now(UnixMillis(model.now));
        }
        Op::ExpireDue(max) => {
            let removed = store.expire_due(max);
            let is_over = store.next_expiry().is_none_or(|at| at.0 > model.now);
            assert!(removed == max || is_over, "all that may go has gone");
        }
        _ => {}
    }
}

/// The keys with a change that breaks a watch.
fn changed(store: &mut Store) -> BTreeSet<Place> {
    let mut changes = Vec::new();
    store.take_changes(&mut changes);
    let breaking = changes.iter().filter(|change| change.event.breaks_watch());
    breaking.map(|change| (change.db, change.key[3])).collect()
}

/// The keys that do not hold the same before and after.
fn differing(before: &BTreeMap<Place, Held>, after: &BTreeMap<Place, Held>) -> BTreeSet<Place> {
    let all = before.keys().chain(after.keys());
    let differ = all.filter(|at| before.get(at) != after.get(at));
    differ.copied().collect()
}

proptest! {
    /// Whatever is done, the store answers like a map, holds what a map would, keeps its invariants, and says of
    /// every observed key that changed that it did.
    #[test]
    fn the_store_is_a_map(ops in prop::collection::vec(op(), 0..80)) {
        let mut store = Store::new(DATABASES, 1, Settings::default());
        store.find_by_slot();
        let mut model = Model::default();
        for db in 0..DATABASES {
            (0..KEYS).for_each(|number| store.observe(db, &key(number)));
        }
        for op in ops {
            let before = contents(&store);
            apply(&mut store, &mut model, &op);
            store.check();
            let after = contents(&store);
            prop_assert_eq!(&after, &model.live(), "after {:?}", op);
            let changed = changed(&mut store);
            if !matches!(op, Op::Advance(_)) {
                let differing = differing(&before, &after);
                prop_assert!(differing.is_subset(&changed), "{:?}: {:?}", op, differing);
            }
        }
        store.set_now(UnixMillis(1_000));
        store.expire_due(usize::MAX);
        let lens: usize = (0..DATABASES).map(|db| store.db_len(db)).sum();
        prop_assert_eq!(lens, contents(&store).len());
    }

    /// Every key that is there from the beginning of a scan to its end is shown exactly once, whatever else comes
    /// and goes meanwhile.
    #[test]
    fn a_scan_shows_every_key_that_stays_exactly_once(
        stay in prop::collection::btree_set(0..200_u16, 0..40),
        before in prop::collection::vec((200..300_u16, any::<bool>()), 0..40),
        meanwhile in prop::collection::vec((200..300_u16, any::<bool>()), 0..60),
        count in 1..20_usize,
    ) {
        let mut store = Store::new(1, 1, Settings::default());
        let come_or_go = |store: &mut Store, (number, comes): (u16, bool)| {
            if comes {
                store.set(0, &number.to_be_bytes(), b"", SetOptions::default()).unwrap();
            } else {
                store.remove(0, &number.to_be_bytes());
            }
        };
        let mut others = before.into_iter();
        for number in &stay {
            if let Some(other) = others.next() {
                come_or_go(&mut store, other);
            }
            store.set(0, &number.to_be_bytes(), b"", SetOptions::default()).unwrap();
        }
        others.for_each(|other| come_or_go(&mut store, other));

        let mut shown: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let mut meanwhile = meanwhile.into_iter();
        let mut cursor = 0;
        for _ in 0..1_000 {
            cursor = store.scan(0, cursor, count, |_, _| true, |key| {
                *shown.entry(key.to_vec()).or_default() += 1;
            });
            if cursor == 0 {
                break;
            }
            if let Some(other) = meanwhile.next() {
                come_or_go(&mut store, other);
            }
        }
        prop_assert_eq!(cursor, 0, "a scan ends");
        for number in stay {
            prop_assert_eq!(shown.get(number.to_be_bytes().as_slice()), Some(&1));
        }
    }

    /// Keys are removed soonest deadline first, and none before its time.
    #[test]
    fn keys_expire_in_the_order_of_their_deadlines(
        deadlines in prop::collection::vec(1..50_u64, 1..30),
        max in 1..5_usize,
    ) {
        let mut store = Store::new(DATABASES, 1, Settings::default());
        store.set_record_all(true);
        for (number, &deadline) in deadlines.iter().enumerate() {
            let options = SetOptions {
                expiry: SetExpiry::At(UnixMillis(deadline)),
                ..SetOptions::default()
            };
            store.set(number % DATABASES, number.to_string().as_bytes(), b"", options).unwrap();
        }
        store.take_changes(&mut Vec::new());

        let mut expired = Vec::new();
        while let Some(at) = store.next_expiry() {
            store.set_now(UnixMillis(at.0 - 1));
            prop_assert_eq!(store.expire_due(max), 0, "none before its time");
            store.set_now(at);
            prop_assert!(store.expire_due(max) > 0);
            let mut changes = Vec::new();
            store.take_changes(&mut changes);
            for change in changes {
                prop_assert_eq!(change.event, Event::Expired);
                let number: usize = String::from_utf8(change.key.to_vec()).unwrap().parse().unwrap();
                prop_assert!(UnixMillis(deadlines[number]) + Millis(1) <= at);
                expired.push(deadlines[number]);
            }
        }
        prop_assert!(expired.is_sorted());
        prop_assert_eq!(expired.len(), deadlines.len());
        prop_assert_eq!(store.bytes(), 0);
    }
}
