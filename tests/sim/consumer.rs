//! Reads, handles and acknowledges; crashes; comes back and begins with what it had not acknowledged.

use std::rc::Rc;

use tailrace_tests::encode;

use super::line::Broken;
use super::line::Line;
use super::record::Id;
use super::reply::entries;
use super::reply::items;
use super::reply::number;
use super::reply::read_entries;
use super::reply::text;
use super::world::GROUPS;
use super::world::KEYS;
use super::world::World;
use super::world::turn;

/// Lives until the run is over, or until it dies for good.
pub(super) async fn live(world: Rc<World>, name: usize) {
    let consumer = Consumer {
        key: KEYS[name % 2],
        group: GROUPS[name / 2 % 2],
        name: format!("c{name}"),
        world,
    };
    loop {
        let mut line = Line::frail(&consumer.world);
        let Err(Broken) = consumer.work(&mut line).await else {
            return;
        };
        consumer.note("crashed");
        // One in a group of its kind never comes back; the other will claim what it left.
        if name >= 4 && consumer.world.one_in(10) {
            consumer.note("is gone for good");
            return;
        }
        for _ in 0..consumer.world.below(50) {
            turn().await;
        }
    }
}

/// A consumer of one group of one stream.
pub(super) struct Consumer {
    pub(super) world: Rc<World>,
    pub(super) key: &'static str,
    pub(super) group: &'static str,
    pub(super) name: String,
}

impl Consumer {
    async fn work(&self, line: &mut Line) -> Result<(), Broken> {
        if self.world.one_in(2) {
            line.call(&["HELLO", "3"]).await?;
        }
        self.drain(line).await?;
        while !self.world.is_ending.get() {
            if self.world.one_in(6) {
                self.claim(line, CLAIM_IDLE_MS).await?;
            }
            let block = match self.world.below(3) {
                0 => None,
                1 => Some("0".to_owned()),
                _ => Some((1 + self.world.below(200)).to_string()),
            };
            self.read_new(line, block.as_deref()).await?;
        }
        Ok(())
    }

    /// Handles what it was given before and has not acknowledged.
    async fn drain(&self, line: &mut Line) -> Result<(), Broken> {
        let mut after = "0".to_owned();
        loop {
            let count = (1 + self.world.below(5)).to_string();
            let read = [
                "XREADGROUP",
                "GROUP",
                self.group,
                &self.name,
                "COUNT",
                &count,
                "STREAMS",
                self.key,
                &after,
            ];
            let given = read_entries(&line.call(&read).await?);
            let Some((last, _)) = given.last() else {
                return Ok(());
            };
            after.clone_from(last);
            self.note(&format!("has {} left to do", given.len()));
            self.handle(line, given).await?;
        }
    }

    /// Reads new entries, handles and acknowledges them. Whether there were any.
    pub(super) async fn read_new(
        &self,
        line: &mut Line,
        block: Option<&str>,
    ) -> Result<bool, Broken> {
        let count = (1 + self.world.below(10)).to_string();
        let mut read = vec![
            "XREADGROUP",
            "GROUP",
            self.group,
            &self.name,
            "COUNT",
            &count,
        ];
        read.extend(block.into_iter().flat_map(|ms| ["BLOCK", ms]));
        read.extend(["STREAMS", self.key, ">"]);
        let given = read_entries(&line.call(&read).await?);
        for (id, exists) in &given {
            assert!(exists, "{id} is new and has no fields");
            let mut record = self.world.record.borrow_mut();
            record.group(self.key, self.group).deliver(Id::parse(id));
        }
        let is_some = !given.is_empty();
        self.handle(line, given).await?;
        Ok(is_some)
    }

    /// Takes over what others left for too long.
    pub(super) async fn claim(&self, line: &mut Line, idle_ms: u64) -> Result<(), Broken> {
        let mut cursor = "0-0".to_owned();
        loop {
            let count = (1 + self.world.below(10)).to_string();
            let idle = idle_ms.to_string();
            let claim = [
                "XAUTOCLAIM",
                self.key,
                self.group,
                &self.name,
                &idle,
                &cursor,
                "COUNT",
                &count,
            ];
            let reply = line.call(&claim).await?;
            let parts = items(&reply);
            cursor = text(&parts[0]);
            let given = entries(&parts[1]);
            if !given.is_empty() {
                self.note(&format!("claims {}", given.len()));
            }
            self.handle(line, given).await?;
            if cursor == "0-0" {
                return Ok(());
            }
        }
    }

    /// Does what is to be done for entries, and acknowledges them. Between any two steps it may crash.
    async fn handle(&self, line: &mut Line, given: Vec<(String, bool)>) -> Result<(), Broken> {
        if given.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let mut acks = Vec::new();
        for (id, exists) in given {
            line.maybe_break(CRASH_ONE_IN)?;
            if exists {
                self.note(&format!("handles {id}"));
                let mut record = self.world.record.borrow_mut();
                record
                    .group(self.key, self.group)
                    .handled
                    .insert(Id::parse(&id));
            }
            bytes.extend(encode(&["XACK", self.key, self.group, &id]));
            acks.push(id);
            // Some work takes so long that others believe it was left.
            let turns = match self.world.one_in(20) {
                true => 60,
                false => 1,
            };
            for _ in 0..turns {
                turn().await;
            }
        }
        line.send(&bytes).await?;
        for id in acks {
            let acknowledged = number(&line.reply().await?);
            self.note(&format!("acknowledged {id}: {acknowledged}"));
            let mut record = self.world.record.borrow_mut();
            record
                .group(self.key, self.group)
                .acknowledged
                .insert(Id::parse(&id));
        }
        Ok(())
    }

    fn note(&self, event: &str) {
        let Self {
            key, group, name, ..
        } = self;
        self.world
            .note(&format!("{name} of {group} of {key} {event}"));
    }
}

/// How long an entry may be pending before others take it.
const CLAIM_IDLE_MS: u64 = 50;
/// How often a consumer crashes between two entries.
const CRASH_ONE_IN: usize = 60;
