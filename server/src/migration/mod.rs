//! Keys on their way to another server: MIGRATE, from when its arguments are read to its reply.
//!
//! What is sent is written under the engine's lock, and carried over by a thread of its own (`carrier.rs`), since it may
//! take as long as the caller allows. Until it is over the gate holds all commands, so that no key changes between its copy
//! and its end; the reference stands still meanwhile. Within EXEC and scripts, where nothing may wait, the thread is the
//! engine's own.

mod carrier;

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Instant;
use tailrace_storage::Now;

use crate::call::Call;
use crate::client::ClientId;
use crate::engine::Engine;
use crate::error::CommandError;
use crate::error::MigrateError;
use crate::serve;
use crate::state::State;

/// What is to be carried over, and where to.
pub(crate) struct Cargo {
    /// The name or the address of the other server.
    pub(crate) host: String,
    /// Its port; without one it is nowhere.
    pub(crate) port: Option<u16>,
    /// How long it may take to connect, and each time something is written or read.
    pub(crate) timeout: Duration,
    /// The requests, one behind the other.
    pub(crate) requests: Vec<u8>,
    /// How many of them come before the keys.
    pub(crate) preludes: usize,
    /// One for each of the other requests.
    pub(crate) keys: Vec<Box<[u8]>>,
}

/// How far the other server took it.
#[derive(Debug)]
pub(crate) struct Carried {
    /// For each key in front whether it was taken; what is missing was not.
    pub(crate) taken: Vec<bool>,
    /// What went wrong first.
    pub(crate) failure: Option<MigrateError>,
}

/// A migration that a client waits for.
pub(crate) struct Migration {
    /// Who asked for it.
    pub(crate) client: ClientId,
    /// Where the keys are.
    pub(crate) db: usize,
    /// What they are called.
    pub(crate) keys: Vec<Box<[u8]>>,
    /// Whether they stay here, too.
    pub(crate) copies: bool,
    /// When it began.
    pub(crate) began: Instant,
}

/// Starts to carry something over, and lets the engine know of the end, unless it fails.
pub(crate) type Launch = Box<dyn Fn(Cargo) -> io::Result<()> + Send>;

/// Lets threads of their own carry things over for this engine.
pub(crate) fn launcher(engine: &Arc<Engine>) -> Launch {
    let engine = Arc::downgrade(engine);
    Box::new(move |cargo| {
        let engine = engine.clone();
        let carry = move || {
            let carried = cargo.carry();
            if let Some(engine) = engine.upgrade() {
                engine.with(|state, now| conclude(state, carried, now));
            }
        };
        let thread = thread::Builder::new().name("migrate".to_owned());
        thread.spawn(carry).map(drop)
    })
}

/// Ends a migration: removes the keys that the other server took, answers whoever waits, and lets the others go on.
fn conclude(state: &mut State, carried: Carried, now: Now) {
    let Some(migration) = state.migration.take() else {
        return;
    };
    let Migration {
        client,
        db,
        keys,
        copies,
        began,
    } = migration;
    let waiter = state.clients.get(client).and_then(|client| client.waiter);
    match waiter {
        Some(waiter) => {
            let took_micros = now.mono.0.saturating_sub(began.0);
            serve::conclude(state, waiter, now, took_micros, move |call, reply| {
                carried.end(call, &keys, copies, reply)
            });
        }
        None if copies => {}
        // Whoever asked for it has left, and the keys have all the same.
        None => carried.taken_of(&keys).for_each(|key| {
            state.store.remove(db, key);
        }),
    }
    state.gate.set_busy(false);
    state.on_gate(now.mono);
}

impl Carried {
    /// Nothing was taken.
    fn nothing(failure: MigrateError) -> Self {
        Self {
            taken: Vec::new(),
            failure: Some(failure),
        }
    }

    /// The keys that were taken.
    fn taken_of<'a>(&self, keys: &'a [Box<[u8]>]) -> impl Iterator<Item = &'a [u8]> {
        let both = keys.iter().zip(&self.taken);
        both.filter(|(_, taken)| **taken).map(|(key, _)| &**key)
    }

    /// Removes what was taken, unless it was only copied, and replies.
    pub(crate) fn end(
        self,
        call: &mut Call<'_>,
        keys: &[Box<[u8]>],
        copies: bool,
        reply: &mut ReplyWriter<'_>,
    ) -> Result<(), CommandError> {
        let db = call.db;
        if !copies {
            self.taken_of(keys).for_each(|key| {
                call.store().remove(db, key);
            });
        }
        match self.failure {
            Some(failure) => Err(failure.into()),
            None => {
                reply.ok();
                Ok(())
            }
        }
    }
}
