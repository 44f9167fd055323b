//! Whether the script that runs is to end.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use mlua::Result;

use super::raised::Raised;

/// Looked at by the script that runs, and told by others.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    is_killed: AtomicBool,
}

impl Watch {
    /// A script begins.
    pub(super) fn begin(&self) {
        self.is_killed.store(false, Ordering::Relaxed);
    }

    /// Ends the script, if it was killed.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_killed.load(Ordering::Relaxed) {
            return Err(Raised::Killed.into());
        }
        Ok(())
    }
}
