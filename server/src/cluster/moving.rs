//! Moves slots from one engine of this process to another, with all that is in them.

use std::sync::Arc;

use super::NodeIndex;
use super::Topology;
use super::slot_migrations::SlotMigration;
use crate::engine::Engine;
use crate::state::State;

/// Carries out what `CLUSTER MIGRATESLOTS` asks for, slot by slot, one migration after the other.
pub(super) async fn run(topology: Arc<Topology>) {
    loop {
        topology.slot_migrations.asked.notified().await;
        while let Some(migration) = topology.slot_migrations.begin() {
            let failure = carry_out(&topology, &migration).await.err();
            let view = topology.view();
            let engine = view.node(migration.source).engine;
            let Some(engine) = engine.and_then(|engine| topology.engine(engine)) else {
                continue;
            };
            engine.with(|state, now| {
                let seconds = now.unix().0 / 1_000;
                let migrations = &topology.slot_migrations;
                migrations.end(&migration.name, failure, seconds);
                let cluster = state.cluster.as_mut().filter(|_| failure.is_none());
                if let Some(cluster) = cluster {
                    cluster.change(|view| view.bump_epoch(migration.target));
                }
            });
        }
    }
}

/// Moves slot after slot; whoever has something to do in between does it. A migration that was cancelled goes no further.
async fn carry_out(topology: &Topology, migration: &SlotMigration) -> Result<(), &'static str> {
    let SlotMigration { source, target, .. } = *migration;
    for slot in migration.slots() {
        if !topology.slot_migrations.is_going_on(&migration.name) {
            break;
        }
        let view = topology.view();
        if view.node(target).replica_of.is_some() {
            return Err(TO_A_REPLICA);
        }
        let are_acquainted = view.node(target).circle == view.node(source).circle;
        if !are_acquainted || !move_slot(topology, slot, Some(source), target) {
            return Err(NOT_OURS);
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Moves a slot and its keys to a primary of this process, at once for everybody, if it is `from` that serves it. Whether it
/// does.
///
/// # Panics
///
/// If either node is in another process.
pub(crate) fn move_slot(
    topology: &Topology,
    slot: u16,
    from: Option<NodeIndex>,
    to: NodeIndex,
) -> bool {
    let view = topology.view();
    let engine_of = |node: NodeIndex| {
        let engine = view.node(node).engine;
        engine.expect("the node is one of this process")
    };
    let target = engine_of(to);
    let source = from.map_or(target, engine_of);
    let give = |state: &mut State| {
        let follows = state.config.settings().cluster.follows_last_slot;
        let cluster = state.cluster.as_mut();
        cluster.is_some_and(|cluster| {
            cluster.change(|view| {
                let is_given = view.owner_of(slot) == from;
                match is_given {
                    true if follows => view.give_and_follow(slot, to),
                    true => view.give(slot, to),
                    false => {}
                }
                is_given
            })
        })
    };
    let engines = (topology.engine(source), topology.engine(target));
    let (Some(source_engine), Some(target_engine)) = engines else {
        return false;
    };
    if source == target {
        return target_engine.with(|state, _| give(state));
    }
    with_both(
        &source_engine,
        &target_engine,
        source < target,
        |from, to| {
            let is_given = give(from);
            if is_given {
                to.store.put_moved(from.store.take_slot(slot));
            }
            is_given
        },
    )
}

/// Takes what is in a slot back from a primary of this process to another, which serves the slot.
///
/// # Panics
///
/// If either node is in another process.
pub(crate) fn return_slot(topology: &Topology, slot: u16, from: NodeIndex, to: NodeIndex) {
    let view = topology.view();
    let engines = [from, to].map(|node| {
        let engine = view.node(node).engine;
        engine.expect("the node is one of this process")
    });
    let [source, target] = engines;
    if let (Some(from), Some(to)) = (topology.engine(source), topology.engine(target))
        && source != target
    {
        with_both(&from, &to, source < target, |from, to| {
            to.store.put_moved(from.store.take_slot(slot));
        });
    }
}

/// Locks two engines. Whoever takes two locks takes that of the lower number first. It also tells the others, which the
/// second one must not do before the first is released.
pub(super) fn with_both<T>(
    one: &Engine,
    other: &Engine,
    is_lower: bool,
    act: impl FnOnce(&mut State, &mut State) -> T,
) -> T {
    let (low, high) = if is_lower { (one, other) } else { (other, one) };
    let result = low.with(|first, _| {
        high.with(|second, _| {
            keep_news(second, true);
            match is_lower {
                true => act(first, second),
                false => act(second, first),
            }
        })
    });
    high.with(|state, _| keep_news(state, false));
    result
}

fn keep_news(state: &mut State, keeps: bool) {
    if let Some(cluster) = &mut state.cluster {
        cluster.keep_news(keeps);
    }
}

const NOT_OURS: &str = "Slots are no longer owned by myself";
const TO_A_REPLICA: &str = "Received error during handshake to target: -ERR Slot migration can only be used on primary nodes.";
