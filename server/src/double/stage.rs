//! What all engines of one space have in common: the clock, the faults, the calls, and what is to be done.
//!
//! A space is a server or a whole cluster, and a test holds it as one: time passes on all of its nodes at once, and a
//! fault strikes whichever of them a call comes to. The locks here are held for a moment only, so they may be taken
//! under an engine's.

use std::ops::Deref;
use std::ops::DerefMut;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use parking_lot::MutexGuard;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::calls::CallLog;
use super::clock::TestClock;
use super::commands::fault::check_node;
use super::commands::fault::load;
use super::driver;
use super::jobs::Jobs;
use super::rules::Rules;
use super::spaces::Seat;
use crate::clock::Clock;
use crate::config::StartClock;
use crate::config::system_message;
use crate::engine::Engine;
use crate::start_error::StartError;
use crate::state::State;

/// What the engines of one space share.
pub(crate) struct Stage {
    /// The time that everything here goes by.
    pub(crate) clock: Arc<TestClock>,
    /// The faults.
    pub(crate) rules: FaultRules,
    /// What was asked, and what was answered.
    pub(crate) calls: Mutex<CallLog>,
    /// What the driver is to do.
    pub(crate) jobs: Mutex<Jobs>,
    /// Rung when the driver may have something to do or to look at.
    pub(crate) bell: Notify,
    /// Told whenever something may have changed that is waited for on all nodes.
    pub(crate) changed: Notify,
    /// Which space of the process this is.
    pub(crate) seat: Seat,
    /// By how many milliseconds each command moves the frozen clock on.
    tick_ms: AtomicU64,
    cast: OnceLock<Cast>,
}

/// Who is on a stage.
struct Cast {
    engines: Vec<Weak<Engine>>,
    runtime: Handle,
}

impl Stage {
    /// A stage whose clock goes like this at first, by a base that shows the host's time or another one.
    pub(crate) fn new(
        clock: StartClock,
        base: Arc<dyn Clock>,
        seed: u64,
        calls: CallLog,
        seat: Seat,
    ) -> Arc<Self> {
        let stage = Self {
            clock: Arc::new(TestClock::on(base)),
            rules: FaultRules::new(seed),
            calls: Mutex::new(calls),
            jobs: Mutex::default(),
            bell: Notify::new(),
            changed: Notify::new(),
            seat,
            tick_ms: AtomicU64::new(0),
            cast: OnceLock::new(),
        };
        stage.begin_clock(clock);
        Arc::new(stage)
    }

    /// Lets the clock go as at the start.
    pub(crate) fn begin_clock(&self, clock: StartClock) {
        self.clock.begin(clock);
        let mut jobs = self.jobs.lock();
        jobs.auto = match clock {
            StartClock::Auto(clients) => Some(clients),
            StartClock::Real | StartClock::Frozen(_) => None,
        };
        drop(jobs);
        self.set_tick(Millis(0));
        self.bell.notify_one();
    }

    /// By how much each command moves the frozen clock on. Asked for each command, so it takes no lock.
    #[inline]
    pub(crate) fn tick(&self) -> Millis {
        Millis(self.tick_ms.load(Ordering::Relaxed))
    }

    /// Lets each command move the frozen clock on by so much.
    pub(crate) fn set_tick(&self, by: Millis) {
        self.tick_ms.store(by.0, Ordering::Relaxed);
    }

    /// Puts in the faults of a file, if one is named.
    pub(crate) fn load_faults(&self, path: &str) -> Result<(), StartError> {
        if path.is_empty() {
            return Ok(());
        }
        let failed = |reason: String| StartError::Faults {
            path: path.to_owned(),
            reason,
        };
        let lines = std::fs::read(path).map_err(|error| failed(system_message(&error)))?;
        let loaded = load(&lines).map_err(|error| {
            let error = error.to_string();
            failed(error.strip_prefix("ERR ").unwrap_or(&error).to_owned())
        })?;
        let mut rules = self.rules.lock();
        loaded.into_iter().for_each(|rule| rules.add(rule));
        Ok(())
    }

    /// Makes sure that there are the nodes of which the faults of a file speak, now that there are nodes.
    pub(crate) fn check_faults(&self, path: &str, state: &State) -> Result<(), StartError> {
        let rules = self.rules.lock();
        let mut checked = rules.iter().map(|rule| (rule, check_node(state, rule)));
        let wrong = checked.find_map(|(rule, checked)| Some((rule, checked.err()?)));
        let Some((rule, reason)) = wrong else {
            return Ok(());
        };
        Err(StartError::Faults {
            path: path.to_owned(),
            reason: format!("of {}, {reason}", String::from_utf8_lossy(&rule.name)),
        })
    }

    /// A command was asked for that there is not.
    pub(crate) fn note_unsupported(&self, name: &[u8]) {
        self.calls.lock().note_unsupported(name);
        if let Some(spaces) = self.seat.spaces.upgrade() {
            spaces.note_unsupported(name);
        }
    }

    /// Notes who is on it, and starts what does the jobs. Must be called within a tokio runtime, and once.
    pub(crate) fn open(self: &Arc<Self>, engines: &[Arc<Engine>]) -> AbortHandle {
        self.cast.get_or_init(|| Cast {
            engines: engines.iter().map(Arc::downgrade).collect(),
            runtime: Handle::current(),
        });
        tokio::spawn(driver::run(Arc::clone(self), engines.to_vec())).abort_handle()
    }

    /// The engines that still run.
    pub(crate) fn engines(&self) -> Vec<Arc<Engine>> {
        let cast = self.cast.get();
        let engines = cast.into_iter().flat_map(|cast| &cast.engines);
        engines.filter_map(Weak::upgrade).collect()
    }

    /// Adds what has been answered to the call log. Takes the engines' locks.
    pub(crate) fn settle_calls(&self) {
        self.act_on_all(|state, _| {
            if let Some(double) = &mut state.double {
                double.settle_calls();
            }
        });
    }

    /// Looks at one engine after the other.
    pub(crate) fn look_at_all<T>(&self, look: impl Fn(&State) -> T) -> Vec<T> {
        let engines = self.engines();
        engines.iter().map(|engine| engine.look(&look)).collect()
    }

    /// Acts on one engine after the other.
    pub(crate) fn act_on_all(&self, act: impl Fn(&mut State, Now)) {
        let engines = self.engines();
        let each = engines.iter();
        each.for_each(|engine| engine.with(|state, now| act(state, now)));
    }

    /// Whether there is one engine and no other.
    pub(crate) fn is_alone(&self) -> bool {
        self.cast.get().is_none_or(|cast| cast.engines.len() == 1)
    }

    /// The engine of this number.
    pub(crate) fn engine(&self, number: usize) -> Option<Arc<Engine>> {
        self.cast.get()?.engines.get(number)?.upgrade()
    }

    /// Lets something go on beside the commands.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(cast) = self.cast.get() {
            cast.runtime.spawn(task);
        }
    }

    /// Acts within the runtime that this is served on, whichever thread calls.
    pub(crate) fn within_runtime<T>(&self, act: impl FnOnce() -> T) -> T {
        let _entered = self.cast.get().map(|cast| cast.runtime.enter());
        act()
    }
}

/// The faults, and whether there is any, which each command asks without a lock.
pub(crate) struct FaultRules {
    rules: Mutex<Rules>,
    are_there: AtomicBool,
}

impl FaultRules {
    fn new(seed: u64) -> Self {
        Self {
            rules: Mutex::new(Rules::new(seed)),
            are_there: AtomicBool::new(false),
        }
    }

    /// Whether there may be a fault.
    #[inline]
    pub(crate) fn are_there(&self) -> bool {
        self.are_there.load(Ordering::Acquire)
    }

    /// The faults, to be looked at or changed.
    pub(crate) fn lock(&self) -> LockedRules<'_> {
        LockedRules {
            rules: self.rules.lock(),
            are_there: &self.are_there,
        }
    }
}

/// The faults, while nobody else has them.
pub(crate) struct LockedRules<'a> {
    rules: MutexGuard<'a, Rules>,
    are_there: &'a AtomicBool,
}

impl Deref for LockedRules<'_> {
    type Target = Rules;

    fn deref(&self) -> &Rules {
        &self.rules
    }
}

impl DerefMut for LockedRules<'_> {
    fn deref_mut(&mut self) -> &mut Rules {
        &mut self.rules
    }
}

impl Drop for LockedRules<'_> {
    fn drop(&mut self) {
        // Before the lock is released.
        let are_there = !self.rules.is_empty();
        self.are_there.store(are_there, Ordering::Release);
    }
}
