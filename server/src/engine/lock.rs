//! How the lock is taken, of which there are two while a script runs for too long.

use std::ops::Deref;
use std::ops::DerefMut;
use std::time::Duration;

use parking_lot::MappedMutexGuard;
use parking_lot::MutexGuard;

use super::Engine;
use crate::state::State;

impl Engine {
    /// Takes the lock.
    pub(super) fn lock(&self) -> Locked<'_> {
        match self.state.try_lock() {
            Some(guard) => Locked::Here(guard),
            None => self.lock_slowly(),
        }
    }

    /// Takes the lock once it is released, or that of the state that was lent.
    #[cold]
    fn lock_slowly(&self) -> Locked<'_> {
        loop {
            if self.loan.is_given()
                && let Some(guard) = self.loan.lock()
            {
                return Locked::Lent(guard);
            }
            if let Some(guard) = self.state.try_lock_for(LOAN_LOOK) {
                return Locked::Here(guard);
            }
        }
    }
}

/// The state, as long as this lives.
pub(super) enum Locked<'a> {
    Here(MutexGuard<'a, State>),
    /// A script has the engine's own lock.
    Lent(MappedMutexGuard<'a, State>),
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        match self {
            Self::Here(guard) => guard,
            Self::Lent(guard) => guard,
        }
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        match self {
            Self::Here(guard) => guard,
            Self::Lent(guard) => guard,
        }
    }
}

/// How long somebody waits for the lock before looking whether the state was lent meanwhile.
const LOAN_LOOK: Duration = Duration::from_millis(5);
