//! What must be true in the end.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::audit;
use super::consumer::Consumer;
use super::line::Line;
use super::record::Id;
use super::reply::entries;
use super::reply::field;
use super::reply::number;
use super::world::GROUPS;
use super::world::KEYS;
use super::world::World;

/// Creates the streams and their groups.
pub(super) async fn create_groups(world: &Rc<World>) {
    for key in KEYS {
        for group in GROUPS {
            drive(world, async |line| {
                let create = ["XGROUP", "CREATE", key, group, "0", "MKSTREAM"];
                let reply = line.call(&create).await.unwrap();
                assert_eq!(reply.to_string(), "OK");
            })
            .await;
        }
    }
}

/// Finishes what everybody left behind, and checks that nothing was lost.
pub(super) async fn check(world: &Rc<World>) {
    for key in KEYS {
        for group in GROUPS {
            drive(world, async |line| finish(world, line, key, group).await).await;
            drive(world, async |line| {
                check_group(world, line, key, group).await
            })
            .await;
        }
        drive(world, async |line| check_stream(world, line, key).await).await;
    }
}

/// The last consumer takes over all that is pending and reads all that is new.
async fn finish(world: &Rc<World>, line: &mut Line, key: &'static str, group: &'static str) {
    let last = Consumer {
        world: Rc::clone(world),
        key,
        group,
        name: "last".to_owned(),
    };
    last.claim(line, 0).await.unwrap();
    while last.read_new(line, None).await.unwrap() {}
}

async fn check_group(world: &World, line: &mut Line, key: &'static str, group: &'static str) {
    let pending = audit::look(world, line, key, group).await.unwrap();
    assert_eq!(pending, 0, "all of {group} of {key} was acknowledged");

    let left = ids_of(line, key).await;
    let mut record = world.record.borrow_mut();
    let handled = &record.group(key, group).handled;
    let lost: Vec<_> = left.difference(handled).collect();
    assert_eq!(lost, [] as [&Id; 0], "were not handled in {group} of {key}");
    let handled = handled.clone();
    let stream = record.stream(key);
    for id in &stream.added {
        let is_done = handled.contains(id) || stream.may_be_gone(*id);
        assert!(is_done, "{id:?} was not handled in {group} of {key}");
    }
}

async fn check_stream(world: &World, line: &mut Line, key: &'static str) {
    let left = ids_of(line, key).await;
    let info = line.call(&["XINFO", "STREAM", key]).await.unwrap();
    assert_eq!(number(field(&info, "length")), left.len());
    let mut record = world.record.borrow_mut();
    let stream = record.stream(key);
    let added = number(field(&info, "entries-added"));
    let answered = stream.added.len();
    assert!(
        (answered..=stream.attempts).contains(&added),
        "{added} were added"
    );
    for id in &stream.added {
        let is_known = left.contains(id) || stream.may_be_gone(*id);
        assert!(is_known, "{id:?} of {key} is gone");
    }
    world.note(&format!(
        "in the end {key} has {} of {added} entries",
        left.len()
    ));
}

async fn ids_of(line: &mut Line, key: &str) -> BTreeSet<Id> {
    let range = line.call(&["XRANGE", key, "-", "+"]).await.unwrap();
    entries(&range)
        .iter()
        .map(|(id, _)| Id::parse(id))
        .collect()
}

/// Lets somebody act on a connection that holds, with a turn of the server after each turn of theirs.
pub(super) async fn drive(world: &Rc<World>, act: impl AsyncFnOnce(&mut Line)) {
    let mut line = Line::reliable(world);
    let mut acting = std::pin::pin!(act(&mut line));
    let mut turns_left = TURNS_MAX;
    loop {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        if acting.as_mut().poll(&mut cx).is_ready() {
            return;
        }
        tokio::task::yield_now().await;
        turns_left -= 1;
        assert!(turns_left > 0, "a reply does not come");
    }
}

/// Turns after which a reply that has not come will not come.
const TURNS_MAX: usize = 100_000;
