//! The test double: the same engine, in the hands of a test.
//!
//! With `--testdouble` a server has one command more, `TESTDOUBLE` (or `TD`), by which a test in any
//! language holds the clock. Everything else is what it is without: the commands, the data and the
//! replies are the engine's own. A server that is no test double has none of this: the command is
//! unknown, and nothing on the way of a command asks for it.
//!
//! What takes time is a [`jobs::Job`]: the command waits like any other, the [`driver`] does the work from
//! outside of the lock, and the reply comes when all that the work caused has been written.

pub(crate) mod calls;
pub(crate) mod clock;
pub(crate) mod commands;
pub(crate) mod condition;
pub(crate) mod driver;
pub(crate) mod facts;
pub(crate) mod fixture;
pub(crate) mod held;
pub(crate) mod hooks;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod origin;
pub(crate) mod outage;
pub(crate) mod readers;
mod release;
pub(crate) mod rules;
pub(crate) mod snapshots;
pub(crate) mod subject;
pub(crate) mod watch;

use std::sync::Arc;

use tailrace_storage::Instant;
use tailrace_storage::Now;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use self::calls::CallLog;
use self::clock::TestClock;
use self::held::HeldBack;
use self::jobs::Jobs;
use self::origin::Origin;
use self::outage::Outage;
use self::readers::ReadersByClient;
use self::rules::Rules;
use self::snapshots::Snapshots;
use self::watch::Watches;
use crate::client::ClientId;
use crate::config::StartClock;
use crate::engine::Engine;
use crate::spec::Flags;
use crate::state::State;

/// What a test double has beside the engine's state. The engine's lock guards it.
pub(crate) struct Double {
    /// The time that everything here goes by.
    pub(crate) clock: Arc<TestClock>,
    /// The faults.
    pub(crate) rules: Rules,
    /// What they keep back.
    pub(crate) held: HeldBack,
    /// What was asked, and what was answered.
    pub(crate) calls: CallLog,
    /// As which consumers clients read.
    pub(crate) readers: ReadersByClient,
    /// Whether nothing is executed and nothing becomes due.
    pub(crate) is_paused: bool,
    /// Who waits for what to hold.
    pub(crate) watches: Watches,
    /// What was kept to go back to.
    pub(crate) snapshots: Snapshots,
    /// What it was when it started.
    pub(crate) origin: Option<Box<Origin>>,
    /// When it is back, if it was restarted.
    pub(crate) outage: Option<Outage>,
    /// What the driver is to do.
    pub(crate) jobs: Jobs,
    /// Rung when the driver may have something to do or to look at.
    pub(crate) bell: Arc<Notify>,
    /// How many commands waited when it was last asked.
    parked: usize,
}

impl Double {
    /// A client has left, and what was its own with it.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.held.forget(client);
        self.readers.forget(client);
    }

    /// A double whose clock goes like this at first.
    pub(crate) fn start(clock: StartClock, seed: u64) -> Self {
        let mut double = Self {
            clock: Arc::new(TestClock::new()),
            rules: Rules::new(seed),
            held: HeldBack::default(),
            calls: CallLog::default(),
            readers: ReadersByClient::default(),
            is_paused: false,
            watches: Watches::default(),
            snapshots: Snapshots::default(),
            origin: None,
            outage: None,
            jobs: Jobs::default(),
            bell: Arc::new(Notify::new()),
            parked: 0,
        };
        double.begin_clock(clock);
        double
    }

    /// Lets the clock go as at the start.
    pub(crate) fn begin_clock(&mut self, clock: StartClock) {
        self.clock.begin(clock);
        self.jobs.auto = match clock {
            StartClock::Auto(clients) => Some(clients),
            StartClock::Real | StartClock::Frozen(_) => None,
        };
    }

    /// Starts what does the jobs of an engine's double, if it is one. Must be called within a tokio runtime.
    pub(crate) fn spawn_driver(engine: &Arc<Engine>) -> Option<AbortHandle> {
        let (clock, bell) = engine.with(|state, _| {
            let double = state.double.as_ref()?;
            Some((Arc::clone(&double.clock), Arc::clone(&double.bell)))
        })?;
        engine.with(|state, _| {
            if let Some(double) = &mut state.double {
                double.watches.live_in(engine);
            }
        });
        let driving = tokio::spawn(driver::run(Arc::clone(engine), clock, bell));
        Some(driving.abort_handle())
    }

    /// So many commands wait now, which the driver may wait for.
    pub(crate) fn on_released(&mut self, parked: usize) {
        let before = std::mem::replace(&mut self.parked, parked);
        if before != parked && self.jobs.is_watching() {
            self.bell.notify_one();
        }
    }
}

impl State {
    /// When a fault next lets something go, or a restart is further.
    pub(crate) fn next_release(&self, now: Instant) -> Option<Instant> {
        let double = self.double.as_ref()?;
        let outage = double.outage.and_then(|outage| outage.next_deadline(now));
        [double.held.next_deadline(), outage]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether a test has stopped the whole server.
    pub(crate) fn is_paused(&self) -> bool {
        self.double.as_ref().is_some_and(|double| double.is_paused)
    }

    /// How many clients wait for a key or a time, those aside that wait for the test double.
    pub(crate) fn blocked_clients(&self) -> usize {
        let parked = self.parked.values();
        parked
            .filter(|parked| !parked.spec.flags.has(Flags::DOUBLE))
            .count()
    }

    /// When something is due next, and how many instants are noted.
    pub(crate) fn timers(&self, now: Now) -> Timers {
        Timers {
            next: self.next_deadline(now),
            count: self.waits.deadline_count() + usize::from(self.gate.deadline().is_some()),
        }
    }
}

/// What time will bring.
pub(crate) struct Timers {
    /// When something is due next.
    pub(crate) next: Option<Instant>,
    /// How many clients and gates wait for an instant. Keys that expire are not counted.
    pub(crate) count: usize,
}
