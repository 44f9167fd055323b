//! A worker that ships orders from a stream. Start it once per consumer, each with its own name:
//!
//! ```text
//! cargo run --release -- NAME [HOST:PORT [CLAIM_AFTER_MS]]
//! ```
//!
//! A name must outlive the process (a host name, a pod's ordinal): by its name a worker that was
//! killed finds what it had in hand. The process ends when it loses its connection; let whatever
//! supervises it start it again, under the same name.
//!
//! Every order is handled at least once, and its effect is counted exactly once. How:
//!
//! - An entry stays pending until it is acknowledged. Whoever dies with entries in hand leaves them
//!   pending; the next process of that name, or else a peer, gets them again. That is "at least
//!   once".
//! - So an order can come twice: redelivered, claimed while its owner was merely slow, or added
//!   twice by a producer that missed a reply. [`Worker::once`] makes the second time harmless. It
//!   sets a key named after the order, applies the effect, and acknowledges, all in one transaction:
//!
//!   - set the key first and apply the effect after: a crash between the two loses the effect;
//!   - apply the effect first and set the key after: a crash between the two counts it twice;
//!   - both in one MULTI/EXEC: a crash leaves both or neither. WATCH on the key makes EXEC fail if
//!     a peer set it since we looked, so two workers with the same order cannot both apply it.
//!
//!   This holds for effects inside this server. For one outside of it (a payment, a mail) hand the
//!   order's id to the other side as its idempotency key, before `once`, and let it refuse the
//!   second.
//! - An order that fails stays pending and is tried again. After five deliveries it goes to a
//!   dead-letter stream, where somebody can look at it without it holding up anybody.

use std::env;
use std::error::Error;
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use redis::Client;
use redis::Commands;
use redis::Connection;
use redis::ExistenceCheck;
use redis::Pipeline;
use redis::RedisResult;
use redis::SetExpiry;
use redis::SetOptions;
use redis::streams::StreamAutoClaimOptions;
use redis::streams::StreamAutoClaimReply;
use redis::streams::StreamId;
use redis::streams::StreamPendingCountReply;
use redis::streams::StreamReadOptions;
use redis::streams::StreamReadReply;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGTERM;

// The braces keep all keys in one hash slot, so that the transaction works on a cluster as well.
const STREAM: &str = "{orders}:stream";
const DEAD: &str = "{orders}:dead";
const SHIPPED: &str = "{orders}:shipped";
const REVENUE: &str = "{orders}:revenue";
const GROUP: &str = "shipping";

const DELIVERIES_MAX: usize = 5;
const BATCH: usize = 50;

/// Bounds how long a stop takes while there is nothing to do.
const BLOCK_MAX: Duration = Duration::from_secs(1);

/// Longer than an order can possibly be in flight.
const REMEMBER_SECONDS: u64 = 7 * 24 * 3600;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let Some(name) = args.next() else { usage() };
    let address = args.next().unwrap_or_else(|| "127.0.0.1:6379".to_owned());
    let claim_after_ms = args.next().map_or(Ok(30_000), |text| text.parse());
    let Ok(claim_after_ms) = claim_after_ms else {
        usage()
    };

    let stopping = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&stopping))?;
    signal_hook::flag::register(SIGINT, Arc::clone(&stopping))?;

    let mut worker = Worker {
        db: Client::open(format!("redis://{address}"))?.get_connection()?,
        name,
        claim_after: Duration::from_millis(claim_after_ms),
        stopping,
        tally: Tally::default(),
    };
    worker.run()?;

    let Tally {
        shipped,
        repeated,
        failed,
        own,
        claimed,
        dead,
    } = worker.tally;
    println!(
        "{} shipped={shipped} repeated={repeated} failed={failed} own={own} claimed={claimed} dead={dead}",
        worker.name
    );
    Ok(())
}

fn usage() -> ! {
    eprintln!("usage: worker NAME [HOST:PORT [CLAIM_AFTER_MS]]");
    process::exit(2)
}

/// Does the work. Returns the effect, which adds commands to a transaction.
///
/// # Errors
///
/// If the order cannot be shipped (now); it is then tried again later.
fn ship(order: &StreamId) -> Result<impl Fn(&mut Pipeline), String> {
    let cents: String = order.get("cents").ok_or("it has no price")?;
    let cents: u64 = cents
        .parse()
        .map_err(|error| format!("its price is {cents}: {error}"))?;

    Ok(move |transaction: &mut Pipeline| {
        transaction.incr(SHIPPED, 1).incr(REVENUE, cents);
    })
}

struct Worker {
    db: Connection,
    name: String,

    /// Entries that are pending for so long are taken from their consumer. Must be longer than a
    /// batch takes, or a worker that is merely slow loses its entries to a peer. (Nothing breaks,
    /// but the work is done twice.)
    claim_after: Duration,

    /// Asks `run` to finish what is in hand and return.
    stopping: Arc<AtomicBool>,

    tally: Tally,
}

/// What this process did, in entries.
#[derive(Default)]
struct Tally {
    shipped: usize,
    repeated: usize,
    failed: usize,
    own: usize,
    claimed: usize,
    dead: usize,
}

impl Worker {
    fn run(&mut self) -> RedisResult<()> {
        self.join()?;
        self.recover_own()?;
        let mut claim_at = Instant::now();
        while !self.is_stopping() {
            if Instant::now() >= claim_at {
                self.recover_from_peers()?;
                claim_at = Instant::now() + self.claim_after;
            }
            for entry in self.read(">")? {
                self.handle(&entry)?;
            }
        }
        self.leave()
    }

    fn join(&mut self) -> RedisResult<()> {
        match self.db.xgroup_create_mkstream(STREAM, GROUP, "0") {
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(()),
            result => result,
        }
    }

    /// Handles what a process of this name had in hand when it died.
    fn recover_own(&mut self) -> RedisResult<()> {
        let mut last = "0".to_owned();
        loop {
            let entries = self.read(&last)?;
            let Some(entry) = entries.last() else {
                return Ok(());
            };
            // Not "0" again: what failed is still pending and would come back.
            last = entry.id.clone();
            self.tally.own += entries.len();
            self.handle_again(&entries)?;
        }
    }

    /// Takes over what has been pending for too long: of dead peers, and what failed before.
    fn recover_from_peers(&mut self) -> RedisResult<()> {
        let mut cursor = "0-0".to_owned();
        while !self.is_stopping() {
            let reply: StreamAutoClaimReply = self.db.xautoclaim_options(
                STREAM,
                GROUP,
                &self.name,
                millis(self.claim_after),
                &cursor,
                StreamAutoClaimOptions::default().count(BATCH),
            )?;
            self.tally.claimed += reply.claimed.len();
            self.handle_again(&reply.claimed)?;
            cursor = reply.next_stream_id;
            if cursor == "0-0" {
                break;
            }
        }
        Ok(())
    }

    /// Removes this consumer, unless that would drop entries that are still pending for it.
    fn leave(&mut self) -> RedisResult<()> {
        let pending: StreamPendingCountReply = self
            .db
            .xpending_consumer_count(STREAM, GROUP, "-", "+", 1, &self.name)?;
        if pending.ids.is_empty() {
            let _dropped: usize = self.db.xgroup_delconsumer(STREAM, GROUP, &self.name)?;
        }
        Ok(())
    }

    /// New entries for ">", waiting for them if there are none; else this consumer's pending
    /// entries after that id.
    fn read(&mut self, after: &str) -> RedisResult<Vec<StreamId>> {
        let options = StreamReadOptions::default()
            .group(GROUP, &self.name)
            .count(BATCH)
            .block(millis(self.claim_after.min(BLOCK_MAX)));
        let reply: Option<StreamReadReply> =
            self.db.xread_options(&[STREAM], &[after], &options)?;
        Ok(reply
            .into_iter()
            .flat_map(|reply| reply.keys)
            .flat_map(|key| key.ids)
            .collect())
    }

    fn handle(&mut self, entry: &StreamId) -> RedisResult<()> {
        let shipment = entry
            .get::<String>("order")
            .ok_or_else(|| "it is no order".to_owned())
            .and_then(|order| Ok((order, ship(entry)?)));
        match shipment {
            Err(error) => {
                eprintln!("{}: entry {} failed: {error}", self.name, entry.id);
                self.tally.failed += 1; // Still pending, so it will be claimed again.
            }
            Ok((order, effect)) => {
                if self.once(&format!("{{orders}}:done:{order}"), &entry.id, effect)? {
                    self.tally.shipped += 1;
                } else {
                    self.tally.repeated += 1;
                }
            }
        }
        Ok(())
    }

    /// Handles redelivered entries, except those that have failed too often.
    fn handle_again(&mut self, entries: &[StreamId]) -> RedisResult<()> {
        if entries.is_empty() {
            return Ok(()); // The library refuses an empty pipeline.
        }
        let mut calls = redis::pipe();
        for entry in entries {
            calls.xpending_count(STREAM, GROUP, &entry.id, &entry.id, 1);
        }
        let pending: Vec<StreamPendingCountReply> = calls.query(&mut self.db)?;
        for (entry, rows) in entries.iter().zip(pending) {
            // The count includes the redelivery that has just brought the entry here.
            let deliveries = rows.ids.first().map_or(0, |row| row.times_delivered - 1);
            if entry.map.is_empty() {
                // Trimmed while pending: nothing left to do.
                let _acknowledged: usize = self.db.xack(STREAM, GROUP, &[&entry.id])?;
            } else if deliveries >= DELIVERIES_MAX {
                self.bury(entry, deliveries)?;
            } else {
                self.handle(entry)?;
            }
        }
        Ok(())
    }

    /// Moves an entry to the dead-letter stream, once even if two workers try.
    fn bury(&mut self, entry: &StreamId, deliveries: usize) -> RedisResult<()> {
        let mut letter: Vec<(&str, Vec<u8>)> = Vec::new();
        for field in entry.map.keys() {
            letter.push((field, entry.get(field).unwrap_or_default()));
        }
        letter.push(("entry", entry.id.clone().into()));
        letter.push(("deliveries", deliveries.to_string().into()));

        let buried = format!("{{orders}}:buried:{}", entry.id);
        if self.once(&buried, &entry.id, |transaction| {
            transaction.xadd(DEAD, "*", &letter);
        })? {
            eprintln!("{}: entry {} is a dead letter now", self.name, entry.id);
            self.tally.dead += 1;
        }
        Ok(())
    }

    /// Applies `effect`, sets `key` and acknowledges, all or nothing. False if `key` was set.
    fn once(
        &mut self,
        key: &str,
        entry_id: &str,
        effect: impl Fn(&mut Pipeline),
    ) -> RedisResult<bool> {
        let remember = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::EX(REMEMBER_SECONDS));
        // Sends WATCH, and calls the closure again if a peer changed the key before EXEC.
        redis::transaction(&mut self.db, &[key], |db, transaction| {
            if db.exists(key)? {
                let _acknowledged: usize = db.xack(STREAM, GROUP, &[entry_id])?;
                return Ok(Some(false));
            }
            transaction.set_options(key, &self.name, remember.clone());
            effect(transaction);
            transaction.xack(STREAM, GROUP, &[entry_id]);
            let executed: Option<redis::Value> = transaction.query(db)?;
            Ok(executed.map(|_replies| true))
        })
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> usize {
    usize::try_from(duration.as_millis()).unwrap_or(usize::MAX)
}
