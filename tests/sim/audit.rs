//! Looks at a group from every side at one instant, while everybody is at work.

use std::collections::BTreeSet;
use std::rc::Rc;

use tailrace_tests::Value;

use super::line::Broken;
use super::line::Line;
use super::record::Id;
use super::reply::field;
use super::reply::items;
use super::reply::number;
use super::reply::text;
use super::world::GROUPS;
use super::world::KEYS;
use super::world::World;
use super::world::turn;

/// Lives until the run is over.
pub(super) async fn live(world: Rc<World>) {
    let mut line = Line::reliable(&world);
    loop {
        let (key, group) = (world.pick(&KEYS), world.pick(&GROUPS));
        look(&world, &mut line, key, group).await.unwrap();
        for _ in 0..world.below(20) {
            turn().await;
        }
    }
}

/// Looks once; everything that is seen belongs to one instant. Gives the number of pending entries.
pub(super) async fn look(
    world: &World,
    line: &mut Line,
    key: &'static str,
    group: &'static str,
) -> Result<usize, Broken> {
    let acknowledged = world
        .record
        .borrow_mut()
        .group(key, group)
        .acknowledged
        .clone();
    let questions: [&[&str]; 6] = [
        &["XPENDING", key, group],
        &["XPENDING", key, group, "-", "+", "1000000"],
        &["XINFO", "STREAM", key],
        &["XINFO", "GROUPS", key],
        &["XINFO", "CONSUMERS", key, group],
        &["XLEN", key],
    ];
    line.call(&["MULTI"]).await?;
    for question in questions {
        line.call(question).await?;
    }
    let answers = line.call(&["EXEC"]).await?;
    let answers = items(&answers);
    let pending = check_pending(&answers[0], &answers[1], &answers[4], &acknowledged);
    let stream = &answers[2];
    assert_eq!(field(stream, "length"), &answers[5], "two lengths");
    let of_group = |info: &&Value| text(field(info, "name")) == group;
    let info = items(&answers[3]).iter().find(of_group).unwrap();
    assert_eq!(number(field(info, "pending")), pending, "XINFO GROUPS");
    check_counters(stream, info);
    world.note(&format!("audit: {pending} pending in {group} of {key}"));
    Ok(pending)
}

/// Checks that XPENDING agrees with itself and with XINFO CONSUMERS, and lists nothing that was
/// acknowledged.
fn check_pending(
    summary: &Value,
    list: &Value,
    consumers: &Value,
    acknowledged: &BTreeSet<Id>,
) -> usize {
    let list = items(list);
    assert_eq!(
        number(&items(summary)[0]),
        list.len(),
        "the summary of XPENDING"
    );
    let mut ids = BTreeSet::new();
    for row in list {
        let id = Id::parse(&text(&items(row)[0]));
        assert!(
            ids.last().is_none_or(|last| *last < id),
            "XPENDING is in order"
        );
        ids.insert(id);
        assert!(
            !acknowledged.contains(&id),
            "{id:?} is pending and was acknowledged"
        );
        assert!(
            number(&items(row)[3]) >= 1,
            "{id:?} is pending and was never delivered"
        );
    }
    for consumer in items(consumers) {
        let name = text(field(consumer, "name"));
        let is_own = |row: &&Value| text(&items(row)[1]) == name;
        let own = list.iter().filter(is_own).count();
        assert_eq!(number(field(consumer, "pending")), own, "of {name}");
    }
    let of_consumers = |info: &Value| number(field(info, "pending"));
    let sum: usize = items(consumers).iter().map(of_consumers).sum();
    assert_eq!(sum, list.len(), "of all consumers");
    list.len()
}

/// What was read and what is left to read is what was added, wherever the server can know it.
fn check_counters(stream: &Value, group: &Value) {
    let added = number(field(stream, "entries-added"));
    let (read, lag) = (field(group, "entries-read"), field(group, "lag"));
    assert!(
        number(field(stream, "length")) <= added,
        "more than were added"
    );
    if let (Value::Integer(_), Value::Integer(_)) = (read, lag) {
        // The lag counts what is still there, so that much more may have been added and deleted.
        assert!(number(read) + number(lag) <= added, "more than were added");
    }
}
