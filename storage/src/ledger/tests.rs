//! The ledger against the store that it is told by: whatever is done, both say the same of what is there.

use proptest::prelude::*;

use super::*;
use crate::autoclaim::AutoClaim;
use crate::claim::{Claim, ClaimShown};
use crate::deliver::Tracking;
use crate::expire::ExpireCondition;
use crate::id::IdRequest;
use crate::pending::PendingFilter;
use crate::store::{GroupStart, MissingStream, RestoreOptions, Settings, Store};
use crate::time::Millis;
use crate::trim::{Trim, TrimLimit};

const DATABASES: usize = 2;
const NAMES: [&[u8]; 3] = [b"a", b"b", b"c"];

#[derive(Clone, Debug)]
enum Op {
    Add(Option<u64>),
    Trim(u64),
    Delete(Vec<u64>),
    Create(u8, Option<u64>),
    SetId(u8, u64),
    Destroy(u8),
    DeleteConsumer(u8, u8),
    Read(u8, u8, u64, bool),
    Reread(u8, u8, u64),
    Claim(u8, u8, Vec<u64>, bool, bool),
    AutoClaim(u8, u8, u64, bool),
    Acknowledge(u8, Vec<u64>),
    Remove,
    Set,
    Expire,
    Rename(u8),
    Copy(u8, usize),
    Move,
    Swap,
    Flush,
    Restore(u8),
}

fn op() -> impl Strategy<Value = Op> {
    let ids = || prop::collection::vec(1..40_u64, 1..4);
    let group = || 0..2_u8;
    let consumer = || 0..3_u8;
    prop_oneof![
        12 => prop::option::of(0..4_u64).prop_map(Op::Add),
        2 => (0..4_u64).prop_map(Op::Trim),
        2 => ids().prop_map(Op::Delete),
        4 => (group(), prop::option::of(0..20_u64)).prop_map(|(g, id)| Op::Create(g, id)),
        1 => (group(), 0..30_u64).prop_map(|(g, id)| Op::SetId(g, id)),
        1 => group().prop_map(Op::Destroy),
        1 => (group(), consumer()).prop_map(|(g, c)| Op::DeleteConsumer(g, c)),
        8 => (group(), consumer(), 1..4_u64, any::<bool>()).prop_map(|(g, c, n, no)| Op::Read(g, c, n, no)),
        2 => (group(), consumer(), 0..20_u64).prop_map(|(g, c, id)| Op::Reread(g, c, id)),
        3 => (group(), consumer(), ids(), any::<bool>(), any::<bool>())
            .prop_map(|(g, c, ids, force, just)| Op::Claim(g, c, ids, force, just)),
        2 => (group(), consumer(), 0..20_u64, any::<bool>())
            .prop_map(|(g, c, id, just)| Op::AutoClaim(g, c, id, just)),
        4 => (group(), ids()).prop_map(|(g, ids)| Op::Acknowledge(g, ids)),
        1 => Just(Op::Remove),
        1 => Just(Op::Set),
        1 => Just(Op::Expire),
        1 => (0..3_u8).prop_map(Op::Rename),
        1 => (0..3_u8, 0..DATABASES).prop_map(|(to, db)| Op::Copy(to, db)),
        1 => Just(Op::Move),
        1 => Just(Op::Swap),
        1 => Just(Op::Flush),
        1 => (0..3_u8).prop_map(Op::Restore),
    ]
}

fn id(number: u64) -> StreamId {
    StreamId::new(number, 0)
}

fn shown(just_id: bool) -> ClaimShown {
    match just_id {
        true => ClaimShown::JustId,
        false => ClaimShown::Entry,
    }
}

fn add(store: &mut Store, db: usize, key: &[u8], trim: Option<u64>) {
    let last = store.peek(db, key).and_then(|value| value.as_stream().ok());
    let next = last.map_or(1, |stream| stream.last_id().ms + 1);
    let fields = [&b"f"[..], b"v"].into_iter();
    let trim = trim.map(|max| Trim {
        limit: TrimLimit::MaxLen(max),
        approximate: false,
        entries_max: 0,
    });
    let request = IdRequest::Exact(id(next));
    let _ = store.append(db, key, request, fields, MissingStream::Create, trim);
}

/// Does something to a key, which may be refused.
fn apply(store: &mut Store, db: usize, key: &[u8], op: Op) {
    let name = |number: u8| NAMES[number as usize];
    match op {
        Op::Add(trim) => add(store, db, key, trim),
        Op::Trim(max) => {
            let _ = store.trim(
                db,
                key,
                Trim {
                    limit: TrimLimit::MaxLen(max),
                    approximate: false,
                    entries_max: 0,
                },
            );
        }
        Op::Delete(ids) => {
            let ids: Vec<_> = ids.into_iter().map(id).collect();
            let _ = store.delete(db, key, &ids);
        }
        Op::Create(g, start) => {
            let start = start.map_or(GroupStart::AfterLast, |start| GroupStart::After(id(start)));
            let _ = store.create_group(db, key, name(g), start, None, MissingStream::Create);
        }
        Op::SetId(g, start) => {
            let start = GroupStart::After(id(start));
            let _ = store.set_group_id(db, key, name(g), start, None);
        }
        Op::Destroy(g) => drop(store.destroy_group(db, key, name(g))),
        Op::DeleteConsumer(g, c) => drop(store.delete_consumer(db, key, name(g), name(c))),
        Op::Read(g, c, count, no_ack) => {
            let tracking = match no_ack {
                true => Tracking::NoAck,
                false => Tracking::Pending,
            };
            let _ = store.read_new(db, key, name(g), name(c), count, tracking);
        }
        Op::Reread(g, c, after) => {
            let _ = store.read_history(db, key, name(g), name(c), id(after), 3);
        }
        op => apply_more(store, db, key, op),
    }
}

fn apply_more(store: &mut Store, db: usize, key: &[u8], op: Op) {
    let name = |number: u8| NAMES[number as usize];
    match op {
        Op::Claim(g, c, ids, force, just_id) => {
            let ids: Vec<_> = ids.into_iter().map(id).collect();
            let claim = Claim {
                ids: &ids,
                force,
                shown: shown(just_id),
                ..Claim::default()
            };
            let _ = store.claim(db, key, name(g), name(c), &claim);
        }
        Op::AutoClaim(g, c, start, just_id) => {
            let ask = AutoClaim {
                start: id(start),
                idle_min: Millis(0),
                count_max: 3,
                shown: shown(just_id),
            };
            let _ = store.auto_claim(db, key, name(g), name(c), ask);
        }
        Op::Acknowledge(g, ids) => {
            let ids: Vec<_> = ids.into_iter().map(id).collect();
            let _ = store.acknowledge(db, key, name(g), &ids);
        }
        Op::Remove => drop(store.remove(db, key)),
        Op::Set => {
            store.remove(db, key);
            add(store, db, key, None);
        }
        Op::Expire => {
            let now = store.now();
            store.expire_at(db, key, now, ExpireCondition::default());
        }
        Op::Rename(to) => drop(store.rename(db, key, name(to))),
        Op::Copy(to, to_db) if (db, key) != (to_db, name(to)) => {
            store.copy(db, key, to_db, name(to), true);
        }
        Op::Move => drop(store.move_key(db, key, 1 - db)),
        Op::Swap => store.swap_dbs(0, 1),
        Op::Flush => drop(store.flush_db(db)),
        Op::Restore(to) => {
            if let Some(value) = store.peek(db, key).cloned() {
                let options = RestoreOptions {
                    replace: true,
                    ..RestoreOptions::default()
                };
                let _ = store.restore(db, name(to), value, options);
            }
        }
        _ => {}
    }
}

/// Both know the same streams, entries, groups and pending entries.
fn check(store: &Store) {
    let ledger = store.ledger().unwrap();
    for db in 0..DATABASES {
        for key in NAMES {
            let stream = store.peek(db, key).and_then(|value| value.as_stream().ok());
            let own = ledger.stream(db, key);
            let live = own.map_or_else(Vec::new, StreamLedger::live_ids);
            let Some(stream) = stream else {
                assert_eq!(live, [], "of no stream");
                continue;
            };
            let own = own.unwrap();
            let range = stream.log().range(StreamId::MIN, StreamId::MAX);
            let there: Vec<_> = range.map(|entry| entry.id()).collect();
            assert_eq!(live, there);
            let alive = |name: &&[u8]| own.group(name).is_some_and(GroupLedger::is_alive);
            assert_eq!(own.groups().filter(alive).count(), stream.groups().len());
            for (name, group) in stream.groups() {
                check_group(own.group(name).unwrap(), group);
            }
        }
    }
}

fn check_group(own: &GroupLedger, group: &crate::group::Group) {
    let pending = group.pending().iter(PendingFilter::default());
    let pending = pending.map(|one| (one.id, group.consumer(one.consumer).name()));
    let own_pending: Vec<_> = own.pending().map(|(key, name)| (key.id, name)).collect();
    assert_eq!(own_pending, pending.collect::<Vec<_>>());
    let sums = own.summary();
    assert_eq!(sums.pending, own_pending.len() as u64);
    let of_consumers: u64 = own.consumers().iter().map(|one| one.pending).sum();
    assert_eq!(sums.pending, of_consumers);
    assert_eq!(
        sums.added,
        sums.delivered_once + sums.redelivered + sums.undelivered
    );
    assert!(sums.lost <= sums.undelivered && sums.pending <= sums.unacknowledged);
    let done = sums.broken(Promise::AtLeastOnce(Work::Unseen)) == 0;
    assert!(!done || sums.added == sums.acknowledged);
}

proptest! {
    /// Whatever happens, the ledger and the store agree, whether it was there from the beginning or came later.
    #[test]
    fn it_knows_what_the_store_knows(
        ops in prop::collection::vec((0..DATABASES, 0..3_usize, 1..4_u64, op()), 1..120),
        begins_at in 0..60_usize,
    ) {
        let mut store = Store::new(DATABASES, 1, Settings::default());
        store.set_now(UnixMillis(1_000));
        for (at, (db, key, client, op)) in ops.into_iter().enumerate() {
            if at == begins_at {
                store.start_ledger();
            }
            store.set_now(UnixMillis(1_000 + at as u64));
            if let Some(ledger) = store.ledger_mut() {
                ledger.set_client(client);
            }
            apply(&mut store, db, NAMES[key], op);
            if store.ledger().is_some() {
                check(&store);
            }
        }
        store.check();
    }
}

/// What is forgotten stays in the sums, and the bound holds.
#[test]
fn what_there_is_no_room_for_is_summed_up() {
    let mut store = Store::new(1, 1, Settings::default());
    store.start_ledger();
    let missing = MissingStream::Create;
    let start = GroupStart::After(StreamId::MIN);
    store
        .create_group(0, b"a", b"g", start, None, missing)
        .unwrap();
    let count = RECORDS_MAX as u64;
    for number in 1..=count {
        let fields = [&b"f"[..], b"v"].into_iter();
        let request = IdRequest::Exact(id(number));
        store
            .append(0, b"a", request, fields, missing, None)
            .unwrap();
        if number % 2 == 0 {
            store
                .read_new(0, b"a", b"g", b"c", 2, Tracking::NoAck)
                .unwrap();
        }
    }
    let ledger = store.ledger().unwrap();
    assert!(ledger.records() <= RECORDS_MAX + 4 * LOOK_EVERY);
    let sums = ledger
        .stream(0, b"a")
        .unwrap()
        .group(b"g")
        .unwrap()
        .summary();
    assert_eq!((sums.added, sums.acknowledged), (count, count));
    assert!(sums.forgotten > count / 2);
    assert_eq!(sums.broken(Promise::ExactlyOnce(Work::Unseen)), 0);
}

#[test]
fn a_ledger_of_one_stream_follows_it_to_its_new_name() {
    let mut store = Store::new(1, 1, Settings::default());
    store.start_ledger_of(0, b"a");
    for key in [b"a", b"b"] {
        let start = GroupStart::AfterLast;
        store
            .create_group(0, key, b"g", start, None, MissingStream::Create)
            .unwrap();
        add(&mut store, 0, key, None);
    }
    assert!(store.ledger().unwrap().stream(0, b"b").is_none());
    store.rename(0, b"a", b"b").unwrap();
    let ledger = store.ledger().unwrap();
    assert!(ledger.stream(0, b"a").is_none());
    let group = ledger.stream(0, b"b").unwrap().group(b"g").unwrap();
    assert_eq!(group.summary().added, 1);
    store.stop_ledger_of(0, b"b");
    store.stop_ledger_of(0, b"a");
    assert!(store.ledger().is_none());
}

/// An ID that is possible again after its key was deleted is another entry.
#[test]
fn a_stream_that_comes_again_has_other_entries() {
    let mut store = Store::new(1, 1, Settings::default());
    store.start_ledger();
    for _ in 0..2 {
        add(&mut store, 0, b"a", None);
        let start = GroupStart::After(StreamId::MIN);
        store
            .create_group(0, b"a", b"g", start, None, MissingStream::Leave)
            .unwrap();
        assert!(store.remove(0, b"a"));
    }
    let stream = store.ledger().unwrap().stream(0, b"a").unwrap();
    let group = stream.group(b"g").unwrap();
    let sums = group.summary();
    assert_eq!((sums.added, sums.lost), (2, 2));
    assert_eq!(stream.history(group, id(1)).count(), 2);
    assert_eq!(stream.broken(group, Promise::NoLoss).count(), 2);
    assert!(store.peek(0, b"a").is_none());
}
