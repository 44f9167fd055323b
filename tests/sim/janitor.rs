//! Deletes single entries and trims old ones, handled or not.

use std::rc::Rc;

use super::line::Line;
use super::record::Id;
use super::reply::entries;
use super::world::KEYS;
use super::world::World;
use super::world::turn;

/// Lives until the run is over.
pub(super) async fn live(world: Rc<World>) {
    loop {
        let mut line = Line::frail(&world);
        // A connection that broke is replaced; what became of its last command is found out at the end.
        while tidy(&world, &mut line).await.is_some() {
            for _ in 0..world.below(40) {
                turn().await;
            }
        }
        world.note("janitor: its connection broke");
    }
}

async fn tidy(world: &World, line: &mut Line) -> Option<()> {
    let key = world.pick(&KEYS);
    let range = line
        .call(&["XRANGE", key, "-", "+", "COUNT", "30"])
        .await
        .ok()?;
    let there = entries(&range);
    if there.is_empty() {
        return Some(());
    }
    let (id, _) = &there[world.below(there.len())];
    let at = Id::parse(id);
    if world.one_in(3) {
        world.record.borrow_mut().stream(key).trim_below(at);
        let how = world.pick(&["=", "~"]);
        let trimmed = line.call(&["XTRIM", key, "MINID", how, id]).await.ok()?;
        world.note(&format!(
            "janitor: trimmed {trimmed} of {key} below {how} {id}"
        ));
    } else {
        world.record.borrow_mut().stream(key).deleted.insert(at);
        let deleted = line.call(&["XDEL", key, id]).await.ok()?;
        world.note(&format!("janitor: deleted {deleted} of {key}, {id}"));
    }
    Some(())
}
