//! Whether the script that runs is over its time, and whether it is to end.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use mlua::Result;
use tailrace_storage::Instant;

use super::raised::Raised;

/// Looked at by the script that runs, and told by others.
#[derive(Default)]
pub(crate) struct Watch {
    is_killed: AtomicBool,
    /// Until when the script may have all others wait, in microseconds; [`NEVER`] once that is over.
    deadline: AtomicU64,
}

impl Watch {
    /// A script begins, which may have all others wait for so many milliseconds; 0 is without end.
    pub(super) fn begin(&self, now: Instant, millis: u64) {
        self.is_killed.store(false, Ordering::Relaxed);
        let deadline = match millis {
            0 => NEVER,
            _ => now.0.saturating_add(millis.saturating_mul(1_000)),
        };
        self.deadline.store(deadline, Ordering::Relaxed);
    }

    /// Whether the script is over its time by now. Says so once.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let is_over = now.0 >= self.deadline.load(Ordering::Relaxed);
        if is_over {
            self.deadline.store(NEVER, Ordering::Relaxed);
        }
        is_over
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

/// A deadline that does not come.
const NEVER: u64 = u64::MAX;
