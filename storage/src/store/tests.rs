//! What the reference does in corners that a map does not have: events, access times, types, due keys.

use super::*;
use crate::claim::Claim;
use crate::deliver::Tracking;
use crate::event::Signal;
use crate::expire::{CurrentDeadline, DeadlineOrder, ExpireCondition, ExpireOutcome, Lifetime};
use crate::fields::Part;
use crate::id::{IdRequest, StreamId};
use crate::trim::{Trim, TrimLimit};
use crate::value::{Encoding, ValueKind};

const NOW: UnixMillis = UnixMillis(1_000);

fn store() -> Store {
    let mut store = Store::new(2, 1, Settings::default());
    store.set_now(NOW);
    store.set_record_all(true);
    store
}

fn events(store: &mut Store) -> Vec<(usize, String, Event)> {
    let mut changes = Vec::new();
    store.take_changes(&mut changes);
    let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    let event = |change: &Change| (change.db, text(&change.key), change.event);
    changes.iter().map(event).collect()
}

/// Events of one key of the first database.
#[track_caller]
fn assert_events(store: &mut Store, key: &str, expected: &[Event]) {
    let expected: Vec<_> = expected.iter().map(|&e| (0, key.to_owned(), e)).collect();
    assert_eq!(events(store), expected);
}

fn set(store: &mut Store, key: &str, value: &str) {
    let options = SetOptions::default();
    store
        .set(0, key.as_bytes(), value.as_bytes(), options)
        .unwrap();
}

fn set_until(store: &mut Store, key: &str, deadline: u64) {
    let options = SetOptions {
        expiry: SetExpiry::AtEvenIfPast(UnixMillis(deadline)),
        ..SetOptions::default()
    };
    store.set(0, key.as_bytes(), b"v", options).unwrap();
}

fn add(store: &mut Store, key: &str, id: (u64, u64), trim: Option<Trim>) {
    let fields = [b"f".as_slice(), b"v".as_slice()].into_iter();
    let id = IdRequest::Exact(StreamId::new(id.0, id.1));
    let missing = MissingStream::Create;
    store
        .append(0, key.as_bytes(), id, fields, missing, trim)
        .unwrap();
}

fn create_group(store: &mut Store, key: &str) -> Result<(), CreateGroupError> {
    let start = GroupStart::AfterLast;
    store.create_group(0, key.as_bytes(), b"g", start, None, MissingStream::Create)
}

fn increment_with(
    store: &mut Store,
    key: &str,
    result: Result<&str, WrongType>,
) -> Result<(), WrongType> {
    store.increment_with(0, key.as_bytes(), |_| Ok(result?.as_bytes().to_vec()))
}

#[test]
fn a_new_key_is_announced_before_what_made_it() {
    let mut store = store();
    set(&mut store, "s", "1");
    assert_events(&mut store, "s", &[Event::New, Event::Set]);
    set_until(&mut store, "s", 2_000);
    assert_events(&mut store, "s", &[Event::Set, Event::Expire]);
    store.append_string(0, b"a", b"").unwrap();
    assert_events(&mut store, "a", &[Event::New, Event::Append]);
    store.increment(0, b"i", 0).unwrap();
    assert_events(&mut store, "i", &[Event::New, Event::Incrby]);
    increment_with(&mut store, "f", Ok("1.5")).unwrap();
    assert_events(&mut store, "f", &[Event::New, Event::Incrbyfloat]);
    store.set_range(0, b"r", 2, b"").unwrap();
    assert_events(&mut store, "r", &[]);
    store.set_range(0, b"r", 2, b"x").unwrap();
    assert_events(&mut store, "r", &[Event::New, Event::Setrange]);
    create_group(&mut store, "x").unwrap();
    assert_events(&mut store, "x", &[Event::New, Event::XgroupMkstream]);
}

#[test]
fn trimming_is_announced_after_the_entry_and_only_if_something_went() {
    let mut store = store();
    let trim = Some(Trim {
        limit: TrimLimit::MaxLen(1),
        approximate: false,
        entries_max: 0,
    });
    add(&mut store, "x", (1, 0), trim);
    assert_events(&mut store, "x", &[Event::New, Event::Xadd]);
    add(&mut store, "x", (2, 0), trim);
    assert_events(&mut store, "x", &[Event::Xadd, Event::Xtrim]);
    assert_eq!(store.delete(0, b"x", &[StreamId::new(1, 0)]), Ok(0));
    assert_eq!(store.delete(0, b"x", &[StreamId::new(2, 0)]), Ok(1));
    assert_events(&mut store, "x", &[Event::Xdel]);
    assert!(store.exists(0, b"x"), "an empty stream stays a key");
}

#[test]
fn whoever_creates_a_consumer_on_the_way_says_so() {
    let mut store = store();
    add(&mut store, "x", (1, 0), None);
    create_group(&mut store, "x").unwrap();
    events(&mut store);
    let read = |store: &mut Store, consumer: &[u8]| {
        let read = store.read_new(0, b"x", b"g", consumer, 10, Tracking::Pending);
        read.unwrap().0.delivered.is_some()
    };
    assert!(!read(&mut store, b"a"));
    assert_events(&mut store, "x", &[Event::XgroupCreateconsumer]);
    assert!(!read(&mut store, b"a"));
    store.claim(0, b"x", b"g", b"b", &Claim::default()).unwrap();
    assert_events(&mut store, "x", &[Event::XgroupCreateconsumer]);
    assert_eq!(store.delete_consumer(0, b"x", b"g", b"b"), Ok(Some(0)));
    assert_eq!(store.delete_consumer(0, b"x", b"g", b"b"), Ok(None));
    assert_events(&mut store, "x", &[Event::XgroupDelconsumer]);
    assert_eq!(store.destroy_group(0, b"x", b"g"), Ok(true));
    assert_eq!(store.destroy_group(0, b"x", b"g"), Ok(false));
    assert_events(&mut store, "x", &[Event::XgroupDestroy]);
    let gone = store.read_new(0, b"x", b"g", b"a", 1, Tracking::NoAck);
    assert_eq!(gone.unwrap_err(), GroupError::NoGroup);
}

#[test]
fn what_replaces_a_stream_says_that_it_is_gone() {
    let mut store = store();
    add(&mut store, "x", (1, 0), None);
    set(&mut store, "s", "v");
    events(&mut store);
    store.rename(0, b"s", b"x").unwrap();
    let expected = [
        (0, "x", Event::Overwritten),
        (0, "x", Event::New),
        (0, "s", Event::RenameFrom),
        (0, "x", Event::RenameTo),
    ];
    let events = events(&mut store);
    assert_eq!(events.len(), expected.len());
    for (event, (db, key, expected)) in events.into_iter().zip(expected) {
        assert_eq!(event, (db, key.to_owned(), expected));
    }
    assert_eq!(Event::Overwritten.signal(), Signal::Gone);

    add(&mut store, "y", (1, 0), None);
    store.take_changes(&mut Vec::new());
    set(&mut store, "y", "v");
    assert_events(&mut store, "y", &[Event::Overwritten, Event::Set]);
}

#[test]
fn a_key_moves_and_databases_swap_under_the_eyes_of_observers() {
    let mut store = store();
    store.set_record_all(false);
    store.observe(0, b"k");
    store.observe(1, b"k");
    set(&mut store, "k", "v");
    events(&mut store);
    assert!(store.move_key(0, b"k", 1));
    let k = || "k".to_owned();
    let moved = [
        (1, k(), Event::New),
        (0, k(), Event::MoveFrom),
        (1, k(), Event::MoveTo),
    ];
    assert_eq!(events(&mut store), moved);
    store.swap_dbs(0, 1);
    let swapped = [(0, k(), Event::SwappedIn), (1, k(), Event::SwappedOut)];
    assert_eq!(events(&mut store), swapped);
    assert_eq!(store.flush_all().len(), 1);
    assert_eq!(events(&mut store), [(0, k(), Event::Flushed)]);
    assert!(store.flush_db(0).is_empty());
    store.unobserve(0, b"k");
    set(&mut store, "k", "v");
    assert!(!store.has_changes());
}

#[test]
fn only_reads_count_and_miss() {
    let mut store = store();
    assert!(store.read(0, b"k").is_none());
    assert_events(&mut store, "k", &[Event::KeyMiss]);
    assert!(store.lookup(0, b"k").is_none());
    assert!(!store.remove(0, b"k"));
    assert_events(&mut store, "k", &[]);
    // OBJECT is counted, but nobody is notified of it.
    assert!(store.facts(0, b"k").is_none());
    assert_events(&mut store, "k", &[]);
    set(&mut store, "k", "v");
    assert!(store.exists(0, b"k"));
    let stats = store.stats();
    assert_eq!((stats.hits, stats.misses), (1, 2));
}

#[test]
fn changes_are_counted_as_for_a_file() {
    let mut store = store();
    let mut counted = 0;
    let mut assert_counts = |store: &Store, more: u64| {
        counted += more;
        assert_eq!(store.change_count(), counted);
    };
    set_until(&mut store, "k", 5_000);
    assert_counts(&store, 1);
    store.rename(0, b"k", b"l").unwrap();
    assert_counts(&store, 1);
    create_group(&mut store, "s").unwrap();
    assert_counts(&store, 1);
    let trim = Some(Trim {
        limit: TrimLimit::MaxLen(3),
        approximate: false,
        entries_max: 0,
    });
    for seq in 1..=4 {
        add(&mut store, "s", (1, seq), trim);
    }
    assert_counts(&store, 4);
    // The consumer, and the stream that was read.
    let read = store.read_new(0, b"s", b"g", b"c", 10, Tracking::Pending);
    assert!(read.is_ok());
    assert_counts(&store, 2);
    let ids = [2, 3, 9].map(|seq| StreamId::new(1, seq));
    assert_eq!(store.acknowledge(0, b"s", b"g", &ids).unwrap(), 2);
    assert_counts(&store, 2);
    // What is due goes by itself.
    store.set_now(UnixMillis(5_001));
    assert_eq!(store.expire_due(10), 1);
    assert_counts(&store, 0);
    set(&mut store, "m", "v");
    drop(store.flush_all());
    assert_counts(&store, 3);
}

#[test]
fn access_restarts_the_idle_time_unless_it_is_not_to_be_noted() {
    let mut store = store();
    set(&mut store, "k", "v");
    let idle = |store: &mut Store, now: u64| {
        store.set_now(UnixMillis(now));
        store.facts(0, b"k").unwrap().idle.0
    };
    assert_eq!(idle(&mut store, 5_000), 4_000);
    assert_eq!(store.kind(0, b"k"), Some(ValueKind::String));
    store.lifetime(0, b"k");
    store.set_no_touch(true);
    store.read(0, b"k");
    assert_eq!(idle(&mut store, 6_000), 5_000);
    assert!(store.touch(0, b"k"));
    assert_eq!(idle(&mut store, 7_000), 1_000);
    store.set_no_touch(false);
    store.read(0, b"k");
    assert_eq!(idle(&mut store, 7_000), 0);
}

#[test]
fn a_key_lives_to_the_end_of_its_last_millisecond() {
    let mut store = store();
    set_until(&mut store, "k", 2_000);
    store.set_now(UnixMillis(2_000));
    assert!(store.exists(0, b"k"));
    assert_eq!(store.next_expiry(), Some(UnixMillis(2_001)));
    store.set_now(UnixMillis(2_001));
    assert!(store.is_due(0, b"k") && store.peek(0, b"k").is_none());
    assert_eq!(store.db_len(0), 1, "it still counts");
    events(&mut store);
    assert!(!store.remove(0, b"k"), "it is not there to be deleted");
    assert_events(&mut store, "k", &[Event::Expired]);
    assert_eq!(store.db_len(0), 0);
}

#[test]
fn a_wait_ends_without_a_look_at_the_key() {
    let mut store = store();
    create_group(&mut store, "s").unwrap();
    store.create_consumer(0, b"s", b"g", b"c").unwrap();
    store.expire_at(0, b"s", UnixMillis(2_000), ExpireCondition::default());
    events(&mut store);
    assert_eq!(store.end_wait(0, b"s", b"g", b"c"), Ok(()));
    store.set_now(UnixMillis(2_001));
    let ended = store.end_wait(0, b"s", b"g", b"c");
    assert_eq!(ended, Err(GroupError::NoSuchKey));
    assert_eq!(
        (events(&mut store).len(), store.db_len(0)),
        (0, 1),
        "it is due, and there"
    );
}

#[test]
fn while_expiry_is_paused_due_keys_stay_but_read_as_missing() {
    let mut store = store();
    set_until(&mut store, "k", 2_000);
    set_until(&mut store, "l", 2_000);
    store.set_now(UnixMillis(3_000));
    store.set_expiry_paused(true);
    assert!(store.read(0, b"k").is_none());
    assert_eq!((store.expire_due(10), store.next_expiry()), (0, None));
    assert_eq!(
        store.scan(0, 0, 10, |_, _| true, |_| unreachable!("none is shown")),
        0
    );
    assert_eq!(store.db_len(0), 2);
    assert!(store.random_key(0).is_some(), "there are no others");
    set(&mut store, "k", "new");
    assert!(store.remove(0, b"l"), "it is there to be deleted");
    assert_eq!(store.db_len(0), 1);
    store.check();
}

#[test]
fn a_deadline_in_the_past_removes_the_key() {
    for (compat, event) in [
        (Compat::Valkey, Event::Outdated),
        (Compat::Redis, Event::Del),
    ] {
        let mut store = store();
        store.settings_mut().compat = compat;
        set(&mut store, "k", "v");
        events(&mut store);
        let outcome = store.expire_at(0, b"k", NOW, ExpireCondition::default());
        assert_eq!(outcome, ExpireOutcome::Removed);
        assert_events(&mut store, "k", &[event]);
    }
}

#[test]
fn a_string_set_until_the_past_is_not_set_by_valkey() {
    let options = SetOptions {
        expiry: SetExpiry::At(UnixMillis(1)),
        ..SetOptions::default()
    };
    let mut store = store();
    assert_eq!(store.set(0, b"k", b"v", options), Ok(SetOutcome::Done));
    assert_events(&mut store, "k", &[]);
    set(&mut store, "k", "v");
    events(&mut store);
    assert_eq!(store.set(0, b"k", b"v", options), Ok(SetOutcome::Done));
    assert_events(&mut store, "k", &[Event::Outdated]);
    store.settings_mut().compat = Compat::Redis;
    assert_eq!(store.set(0, b"k", b"v", options), Ok(SetOutcome::Done));
    assert_events(&mut store, "k", &[Event::New, Event::Set, Event::Expire]);
}

#[test]
fn conditions_of_expire_hold_as_documented() {
    let mut store = store();
    set(&mut store, "k", "v");
    let mut expire = |deadline, current, order| {
        let condition = ExpireCondition { current, order };
        store.expire_at(0, b"k", UnixMillis(deadline), condition) == ExpireOutcome::Set
    };
    use {CurrentDeadline as Current, DeadlineOrder as Order};
    assert!(!expire(5_000, Current::Present, Order::Any));
    assert!(!expire(5_000, Current::Any, Order::Later));
    assert!(!expire(5_000, Current::Present, Order::Sooner));
    assert!(expire(5_000, Current::Any, Order::Sooner));
    assert!(!expire(6_000, Current::Absent, Order::Any));
    assert!(!expire(6_000, Current::Any, Order::Sooner));
    assert!(!expire(5_000, Current::Any, Order::Later));
    assert!(expire(6_000, Current::Present, Order::Later));
    assert_eq!(
        store.lifetime(0, b"k"),
        Some(Lifetime::Until(UnixMillis(6_000)))
    );
}

#[test]
fn conditions_of_set_hold_as_documented() {
    let mut store = store();
    let set = |store: &mut Store, value: &[u8], condition| {
        let options = SetOptions {
            condition,
            ..SetOptions::default()
        };
        store.set(0, b"k", value, options)
    };
    let (done, refused) = (Ok(SetOutcome::Done), Ok(SetOutcome::Refused));
    assert_eq!(set(&mut store, b"1", SetCondition::Exists), refused);
    assert_eq!(set(&mut store, b"1", SetCondition::Equals(b"")), refused);
    assert_eq!(set(&mut store, b"1", SetCondition::Missing), done);
    assert_eq!(set(&mut store, b"2", SetCondition::Missing), refused);
    assert_eq!(set(&mut store, b"2", SetCondition::Equals(b"1")), done);
    assert_eq!(set(&mut store, b"3", SetCondition::Exists), done);
    assert_eq!(store.remove_if_equal(0, b"k", b"2"), Ok(false));
    assert_eq!(store.remove_if_equal(0, b"k", b"3"), Ok(true));
    add(&mut store, "k", (1, 0), None);
    assert_eq!(
        set(&mut store, b"1", SetCondition::Equals(b"1")),
        Err(WrongType)
    );
    assert_eq!(set(&mut store, b"1", SetCondition::Always), done);
}

#[test]
fn numbers_are_added_within_their_bounds() {
    let mut store = store();
    set(&mut store, "k", "9223372036854775807");
    assert_eq!(store.increment(0, b"k", 1), Err(IncrementError::Overflow));
    assert_eq!(store.increment(0, b"k", -1), Ok(i64::MAX - 1));
    set(&mut store, "k", " 1");
    assert_eq!(
        store.increment(0, b"k", 1),
        Err(IncrementError::NotAnInteger)
    );
}

#[test]
fn a_number_is_replaced_by_what_the_caller_computes() {
    let mut store = store();
    set(&mut store, "k", "10");
    let seen = store.increment_with(0, b"k", |number| {
        assert_eq!(number, Part::Int(10));
        Ok::<_, WrongType>(b"10.5".to_vec())
    });
    assert_eq!(seen, Ok(()));
    let value = store.string(0, b"k").unwrap().unwrap();
    assert!(*value == *b"10.5".as_slice());
    assert_eq!(
        increment_with(&mut store, "new", Err(WrongType)),
        Err(WrongType)
    );
    assert!(!store.exists(0, b"new"));
}

#[test]
fn a_string_grows_to_its_bound_and_not_beyond() {
    let mut store = store();
    store.settings_mut().string_bytes_max = 8;
    assert_eq!(store.append_string(0, b"k", b"1234567"), Ok(7));
    assert_eq!(store.append_string(0, b"k", b"8"), Ok(8));
    assert_eq!(
        store.append_string(0, b"k", b"9"),
        Err(StringError::TooLong)
    );
    assert_eq!(store.set_range(0, b"k", 7, b"x"), Ok(8));
    assert_eq!(store.set_range(0, b"k", 8, b"x"), Err(StringError::TooLong));
    assert_eq!(
        store.set_range(0, b"k", usize::MAX, b"x"),
        Err(StringError::TooLong)
    );
    assert_eq!(store.set_range(0, b"k", usize::MAX, b""), Ok(8));
}

#[test]
fn a_short_string_becomes_raw_for_good_when_a_deadline_takes_its_room() {
    let mut store = store();
    let encoding = |store: &mut Store| store.facts(0, b"k").unwrap().encoding;
    set(&mut store, "k", &"x".repeat(110));
    assert_eq!(encoding(&mut store), Encoding::Embstr);
    store.expire_at(0, b"k", UnixMillis(9_000), ExpireCondition::default());
    store.persist(0, b"k");
    assert_eq!(encoding(&mut store), Encoding::Raw);
    store.rename(0, b"k", b"l").unwrap();
    store.rename(0, b"l", b"k").unwrap();
    assert_eq!(encoding(&mut store), Encoding::Raw);
    // The deadline that goes is still there when the new string is placed.
    set_until(&mut store, "k", 9_000);
    set(&mut store, "k", &"x".repeat(110));
    assert_eq!(encoding(&mut store), Encoding::Raw);
    set(&mut store, "k", &"x".repeat(110));
    assert_eq!(encoding(&mut store), Encoding::Embstr);
}

#[test]
fn a_copy_of_a_stream_has_its_groups_and_what_is_pending() {
    let mut store = store();
    create_group(&mut store, "x").unwrap();
    add(&mut store, "x", (1, 0), None);
    store
        .read_new(0, b"x", b"g", b"a", 1, Tracking::Pending)
        .unwrap();
    assert!(store.copy(0, b"x", 1, b"y", false));
    assert!(!store.copy(0, b"x", 1, b"y", false));
    assert_eq!(
        store.acknowledge(0, b"x", b"g", &[StreamId::new(1, 0)]),
        Ok(1)
    );
    let copy = store.stream(1, b"y").unwrap().unwrap();
    assert_eq!(copy.group(b"g").unwrap().pending().len(), 1);
    store.check();
}

#[test]
fn types_are_checked_before_anything_changes() {
    let mut store = store();
    set(&mut store, "s", "v");
    let fields = [b"f".as_slice(), b"v".as_slice()].into_iter();
    let added = store.append(
        0,
        b"s",
        IdRequest::Auto,
        fields,
        MissingStream::Create,
        None,
    );
    assert_eq!(added, Err(AddError::WrongType));
    assert_eq!(
        create_group(&mut store, "s"),
        Err(CreateGroupError::WrongType)
    );
    assert_eq!(
        store.destroy_group(0, b"s", b"g"),
        Err(GroupError::WrongType)
    );
    assert_eq!(store.stream(0, b"s").unwrap_err(), WrongType);
    add(&mut store, "x", (1, 0), None);
    assert_eq!(
        store.append_string(0, b"x", b""),
        Err(StringError::WrongType)
    );
    assert_eq!(store.increment(0, b"x", 1), Err(IncrementError::WrongType));
    assert_eq!(store.string(0, b"x").unwrap_err(), WrongType);
}

#[test]
fn chance_picks_every_key_and_the_same_ones_from_the_same_seed() {
    let mut store = store();
    for number in 0..100 {
        set(&mut store, &number.to_string(), "v");
    }
    // Almost all places become free, so that picking one at random mostly fails.
    for number in 0..98 {
        store.remove(0, number.to_string().as_bytes());
    }
    let mut picked = std::collections::BTreeSet::new();
    for _ in 0..100 {
        picked.insert(store.random_key(0).unwrap().to_vec());
    }
    assert_eq!(picked.len(), 2);
    assert_eq!(store.random_key(1), None);
}

#[test]
fn an_engine_without_keys_is_small() {
    let store = Store::new(16, 1, Settings::default());
    assert!(size_of::<Keyspace>() * store.databases() < 4_096);
    assert_eq!(store.bytes(), 0);
}

#[test]
fn emptied_databases_may_be_dropped_by_another_thread() {
    fn may_go_elsewhere<T: Send + 'static>(_: T) {}
    let mut store = store();
    add(&mut store, "x", (1, 0), None);
    may_go_elsewhere(store.flush_all());
    may_go_elsewhere(store);
}
