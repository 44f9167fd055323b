//! Whether the script that runs is over its time, and whether it is to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use mlua::Result;
use parking_lot::Mutex;
use tailrace_storage::Instant;

use super::raised::Raised;
use crate::clock::Clock;

/// Looked at by the script that runs, and told by others.
#[derive(Default)]
pub(crate) struct Watch {
    is_killed: AtomicBool,
    /// The run is to be told that its time is over.
    is_time_over: AtomicBool,
    /// Until when the script may have all others wait; `None` once it is over.
    deadline: Mutex<Option<Deadline>>,
}

struct Deadline {
    clock: Arc<dyn Clock>,
    at: Instant,
}

impl Watch {
    /// A script begins, which may have all others wait for so many milliseconds; 0 is without end.
    pub(super) fn begin(&self, clock: &Arc<dyn Clock>, millis: u64) {
        self.is_killed.store(false, Ordering::Relaxed);
        self.is_time_over.store(false, Ordering::Relaxed);
        let deadline = (millis > 0).then(|| Deadline {
            clock: Arc::clone(clock),
            at: Instant(clock.mono().0.saturating_add(millis.saturating_mul(1_000))),
        });
        *self.deadline.lock() = deadline;
    }

    /// Whether the script is over its time. Says so once, and then to the run, too.
    pub(super) fn is_over(&self) -> bool {
        let is_past = |deadline: &mut Deadline| deadline.clock.mono() >= deadline.at;
        let is_over = self.deadline.lock().take_if(is_past).is_some();
        if is_over {
            self.is_time_over.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Whether [`Self::is_over`] said so since this was asked last.
    pub(super) fn take_time_over(&self) -> bool {
        self.is_time_over.load(Ordering::Relaxed)
            && self.is_time_over.swap(false, Ordering::Relaxed)
    }

    /// Lets the script end as soon as it looks.
    pub(crate) fn kill(&self) {
        self.is_killed.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to end.
    pub(super) fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Relaxed)
    }

    /// Ends the script, if it was told to end.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_killed() {
            return Err(Raised::Killed.into());
        }
        Ok(())
    }
}
