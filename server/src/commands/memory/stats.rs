//! `MEMORY STATS`
//!
//! Replies with what takes how much memory, under the reference's names.
//!
//! Behaviour worth knowing:
//! - What this server does not have (replication, scripts, an allocator that counts) is 0. What is resident
//!   is the whole process, which may hold several servers.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Store;

use self::Value::Fraction;
use self::Value::Whole;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::process;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::Memory;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "memory|stats",
    arity: 2,
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    group: Group::Server,
    summary: "Shows what takes how much memory.",
    since: "4.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let totals = Totals::of(call.state);
    let store = call.store();
    let has_keys = |db: &usize| store.db_len(*db) > 0;
    let dbs = (0..store.databases()).filter(has_keys);

    let (before, after) = (totals.before_databases(), totals.after_databases());
    reply.map(before.len() + dbs.clone().count() + after.len());
    write(reply, &before);
    for db in dbs {
        reply.bulk(format!("db.{db}").as_bytes());
        reply.map(2);
        write(reply, &database(store, db));
    }
    write(reply, &after);
    Ok(Flow::Done)
}

/// A figure and its name.
type Figure = (&'static str, Value);

enum Value {
    Whole(u64),
    Fraction(f64),
}

fn write(reply: &mut ReplyWriter<'_>, figures: &[Figure]) {
    for (name, value) in figures {
        reply.bulk(name.as_bytes());
        match value {
            Whole(value) => reply.unsigned(*value),
            Fraction(value) => reply.double(*value),
        }
    }
}

fn database(store: &Store, db: usize) -> [Figure; 2] {
    [
        (
            "overhead.hashtable.main",
            Whole(store.overhead_bytes(db) as u64),
        ),
        (
            "overhead.hashtable.expires",
            Whole(store.deadline_count(db) as u64 * DEADLINE_BYTES),
        ),
    ]
}

struct Totals {
    keys: u64,
    memory: Memory,
    scripts: u64,
    /// The part of the data that the tables take.
    overhead: u64,
}

impl Totals {
    fn of(state: &mut State) -> Self {
        let (memory, scripts) = (state.memory(), state.scripts.memory());
        let store = &state.store;
        let dbs = 0..store.databases();
        Self {
            keys: dbs.clone().map(|db| store.db_len(db) as u64).sum(),
            memory,
            scripts: scripts.cache,
            overhead: dbs.map(|db| store.overhead_bytes(db) as u64).sum(),
        }
    }

    fn before_databases(&self) -> [Figure; 13] {
        let all = self.memory.used();
        [
            ("peak.allocated", Whole(self.memory.peak)),
            ("total.allocated", Whole(all)),
            ("startup.allocated", Whole(self.memory.own)),
            ("replication.backlog", Whole(0)),
            ("replicas.repl.buffer", Whole(0)),
            ("clients.slaves", Whole(0)),
            ("clients.normal", Whole(self.memory.clients)),
            ("cluster.links", Whole(0)),
            ("cluster.slot_import", Whole(0)),
            ("cluster.slot_export", Whole(0)),
            ("aof.buffer", Whole(0)),
            ("lua.caches", Whole(self.scripts)),
            ("functions.caches", Whole(0)),
        ]
    }

    fn after_databases(&self) -> [Figure; 21] {
        let all = self.memory.used();
        let resident = process::resident_bytes().unwrap_or(all).max(all);
        let dataset = self.memory.data - self.overhead;
        let per_key = dataset.checked_div(self.keys).unwrap_or(0);
        [
            ("overhead.db.hashtable.lut", Whole(self.overhead)),
            ("overhead.db.hashtable.rehashing", Whole(0)),
            (
                "overhead.total",
                Whole(self.memory.own + self.overhead + self.memory.clients),
            ),
            ("db.dict.rehashing.count", Whole(0)),
            ("keys.count", Whole(self.keys)),
            ("keys.bytes-per-key", Whole(per_key)),
            ("dataset.bytes", Whole(dataset)),
            (
                "dataset.percentage",
                Fraction(percentage(dataset, all - self.memory.own)),
            ),
            (
                "peak.percentage",
                Fraction(percentage(all, self.memory.peak)),
            ),
            ("allocator.allocated", Whole(all)),
            ("allocator.active", Whole(all)),
            ("allocator.resident", Whole(resident)),
            ("allocator.muzzy", Whole(0)),
            ("allocator-fragmentation.ratio", Fraction(1.0)),
            ("allocator-fragmentation.bytes", Whole(0)),
            ("allocator-rss.ratio", Fraction(ratio(resident, all))),
            ("allocator-rss.bytes", Whole(resident - all)),
            ("rss-overhead.ratio", Fraction(1.0)),
            ("rss-overhead.bytes", Whole(0)),
            ("fragmentation", Fraction(ratio(resident, all))),
            ("fragmentation.bytes", Whole(resident - all)),
        ]
    }
}

/// How many times as large as the second the first is.
#[expect(clippy::cast_precision_loss, reason = "a ratio of bytes needs no more")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Two decimals are enough for people.
#[expect(
    clippy::cast_precision_loss,
    reason = "a percentage of bytes needs no more"
)]
fn percentage(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 * 10_000.0 / whole as f64).round() / 100.0
}

/// What a deadline takes in the list of all.
const DEADLINE_BYTES: u64 = 16;
