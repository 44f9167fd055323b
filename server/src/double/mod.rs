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
pub(crate) mod cluster;
pub(crate) mod commands;
pub(crate) mod condition;
pub(crate) mod driver;
pub(crate) mod facts;
pub(crate) mod faults;
pub(crate) mod fixture;
pub(crate) mod held;
pub(crate) mod hooks;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod nodes;
pub(crate) mod origin;
pub(crate) mod outage;
pub(crate) mod pushes;
pub(crate) mod readers;
pub(crate) mod release;
pub(crate) mod rules;
pub(crate) mod snapshots;
pub(crate) mod spaces;
pub(crate) mod stage;
pub(crate) mod strict;
pub(crate) mod subject;
mod tick;
pub(crate) mod victims;
pub(crate) mod watch;

use std::sync::Arc;

use parking_lot::MutexGuard;
use tailrace_storage::Instant;
use tailrace_storage::Now;

use self::calls::CallLog;
use self::calls::FreshCalls;
use self::held::HeldBack;
use self::origin::Origin;
use self::outage::Outage;
use self::readers::ReadersByClient;
use self::snapshots::Snapshots;
use self::spaces::Owner;
use self::stage::Stage;
use self::watch::Watches;
use crate::client::ClientId;
use crate::deadlines::sooner;
use crate::spec::Flags;
use crate::state::State;

/// What a test double has beside the engine's state. The engine's lock guards it.
pub(crate) struct Double {
    /// What it has in common with the other nodes of a cluster.
    pub(crate) stage: Arc<Stage>,
    /// Which of the engines on the stage this is.
    pub(crate) engine: usize,
    /// What faults keep back here.
    pub(crate) held: HeldBack,
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
    /// Calls that are not in the log yet.
    pub(crate) fresh: FreshCalls,
    /// How many commands waited when it was last asked.
    parked: usize,
}

impl Double {
    /// The double of one of the engines on `stage`.
    pub(crate) fn on(stage: Arc<Stage>, engine: usize) -> Self {
        Self {
            stage,
            engine,
            held: HeldBack::default(),
            readers: ReadersByClient::default(),
            is_paused: false,
            watches: Watches::default(),
            snapshots: Snapshots::default(),
            origin: None,
            outage: None,
            fresh: FreshCalls::default(),
            parked: 0,
        }
    }

    /// Whether nothing can happen to a command but what the engine does with it.
    #[inline]
    pub(crate) fn lets_pass(&self) -> bool {
        !self.stage.rules.are_there()
            && self.outage.is_none()
            && !self.is_paused
            && !self.held.lets_any_pass()
    }

    /// The call log, with all that this engine has answered.
    pub(crate) fn settled_calls(&mut self) -> MutexGuard<'_, CallLog> {
        let mut log = self.stage.calls.lock();
        if !self.fresh.is_empty() {
            log.add(&mut self.fresh, || self.stage.clock.host_mono());
        }
        log
    }

    /// Likewise amid a batch, while this is the output.
    pub(crate) fn settled_calls_amid(&mut self, out: &[u8]) -> MutexGuard<'_, CallLog> {
        self.fresh.end_row(None, Some(out));
        self.settled_calls()
    }

    /// Adds what this engine has answered to the call log.
    pub(crate) fn settle_calls(&mut self) {
        if !self.fresh.is_empty() {
            drop(self.settled_calls());
        }
    }

    /// The server ends: whoever in this program waits for something is told so.
    pub(crate) fn end(&mut self) {
        self.watches = Watches::default();
        self.stage.jobs.lock().close();
    }

    /// A client has left, and what was its own with it; the spaces that it owned end.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.held.forget(client);
        self.readers.forget(client);
        if let Some(spaces) = self.stage.seat.spaces.upgrade() {
            spaces.on_left(self.owner(client));
        }
    }

    /// A client of this engine, as the owner of spaces.
    pub(crate) fn owner(&self, client: ClientId) -> Owner {
        Owner {
            space: self.stage.seat.id,
            engine: self.engine,
            client,
        }
    }

    /// So many commands wait now, which the driver may wait for.
    pub(crate) fn on_released(&mut self, parked: usize) {
        if self.fresh.are_many() || !self.stage.is_alone() {
            self.settle_calls();
        }
        let before = std::mem::replace(&mut self.parked, parked);
        if before != parked && self.stage.jobs.lock().is_watching() {
            self.stage.bell.notify_one();
        }
        if !self.stage.is_alone() {
            self.stage.changed.notify_waiters();
        }
    }
}

impl State {
    /// When a fault next lets something go, or a restart is further.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        let double = self.double.as_ref()?;
        let outage = double.outage.map(Outage::next_deadline);
        sooner(double.held.next_deadline(), outage)
    }

    /// What the host's clock shows, if a test holds the one that commands go by: that may stand still.
    pub(crate) fn host_mono(&self) -> Option<Instant> {
        let double = self.double.as_ref()?;
        Some(double.stage.clock.host_mono())
    }

    /// Stops the whole server, or lets it go on.
    pub(crate) fn set_paused(&mut self, is_paused: bool) {
        if let Some(double) = &mut self.double {
            double.is_paused = is_paused;
        }
    }

    /// Whether a test has stopped the whole server: nothing is executed and nothing becomes due.
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
        let held = self.double.as_ref().map(|double| &double.held);
        Timers {
            next: self.next_deadline(now),
            count: self.waits.deadline_count()
                + usize::from(self.gate.deadline().is_some())
                + held.map_or(0, HeldBack::deadline_count),
        }
    }
}

/// What time will bring.
pub(crate) struct Timers {
    /// When something is due next.
    pub(crate) next: Option<Instant>,
    /// How many clients and gates wait for an instant, and how much faults keep back until one. Keys that expire are not counted.
    pub(crate) count: usize,
}
