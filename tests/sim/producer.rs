//! Adds entries, in pipelines, and goes on after its connection broke.

use std::rc::Rc;

use tailrace_tests::encode;

use super::line::Broken;
use super::line::Line;
use super::record::Id;
use super::reply::text;
use super::world::KEYS;
use super::world::World;
use super::world::turn;

/// Lives until it has sent its share.
pub(super) async fn live(world: Rc<World>, name: usize) {
    let mut left = ENTRIES;
    while left > 0 {
        let mut line = Line::frail(&world);
        while left > 0 {
            let key = world.pick(&KEYS);
            let count = (1 + world.below(PIPELINE_MAX)).min(left);
            left -= count;
            if let Err(Broken) = add(&world, &mut line, name, key, count).await {
                world.note(&format!("producer {name}: its connection broke"));
                break;
            }
            for _ in 0..world.below(60) {
                turn().await;
            }
        }
    }
}

/// Adds entries with one pipeline.
async fn add(
    world: &World,
    line: &mut Line,
    name: usize,
    key: &'static str,
    count: usize,
) -> Result<(), Broken> {
    let mut bytes = Vec::new();
    for n in 0..count {
        let value = "x".repeat(world.below(30));
        let from = name.to_string();
        bytes.extend(encode(&[
            "XADD",
            key,
            "*",
            "from",
            &from,
            "n",
            &n.to_string(),
            "value",
            &value,
        ]));
    }
    world.record.borrow_mut().stream(key).attempts += count;
    line.send(&bytes).await?;
    for _ in 0..count {
        let id = text(&line.reply().await?);
        world.note(&format!("producer {name}: added {id} to {key}"));
        let is_new = world
            .record
            .borrow_mut()
            .stream(key)
            .added
            .insert(Id::parse(&id));
        assert!(is_new, "{id} was given twice");
    }
    Ok(())
}

/// What one producer adds.
const ENTRIES: usize = 250;
/// What it sends before it reads.
const PIPELINE_MAX: usize = 8;
