//! Lends the state to others while a script runs for longer than `busy-reply-threshold`.
//!
//! A script runs under the engine's lock, and so long all others wait. When it is over its time, the
//! state moves out of there and to here, where others take it as they would take it there
//! (`Engine::lock`), to be told that the server is busy, or to end the script. The script takes it
//! only for the commands that it calls. It goes back once the script is over.
//!
//! On a runtime with several threads the script also gives up the worker that it runs on, so that
//! there is one for all other sockets even if there was only one.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

use parking_lot::MappedMutexGuard;
use parking_lot::Mutex;
use parking_lot::MutexGuard;
use tokio::runtime::Handle;
use tokio::runtime::RuntimeFlavor;

use crate::state::State;

/// Where the state is while it is lent.
#[derive(Default)]
pub(crate) struct Loan {
    /// Invariant: while nobody holds `state`, this says whether it holds one.
    is_given: AtomicBool,
    state: Mutex<Option<Box<State>>>,
}

impl Loan {
    /// Whether the state is here, or was a moment ago.
    pub(crate) fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Acquire)
    }

    /// Takes the state for as long as the guard lives, if it is here.
    pub(crate) fn lock(&self) -> Option<MappedMutexGuard<'_, State>> {
        MutexGuard::try_map(self.state.lock(), Option::as_deref_mut).ok()
    }

    /// Moves the state here, and leaves another in its place that nobody is to look at.
    pub(super) fn give(&self, state: &mut State) {
        let mut moved = Box::new(State::empty_like(state));
        std::mem::swap(state, &mut *moved);
        *self.state.lock() = Some(moved);
        self.is_given.store(true, Ordering::Release);
    }

    /// Moves the state back, if it is here.
    pub(super) fn take_back(&self, state: &mut State) {
        let mut given = self.state.lock();
        if let Some(mut moved) = given.take() {
            std::mem::swap(state, &mut *moved);
        }
        self.is_given.store(false, Ordering::Release);
    }
}

/// Lets another thread do what this worker does besides the task that it runs, and returns once one
/// does. Where there is only this thread for everything, there is none.
pub(super) fn give_up_worker() {
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    if runtime.runtime_flavor() != RuntimeFlavor::MultiThread {
        return;
    }
    let (ready, is_ready) = mpsc::channel();
    tokio::task::block_in_place(|| {
        runtime.spawn(async move {
            // Nobody listens if the runtime ends.
            let _ = ready.send(());
        });
        let _ = is_ready.recv();
    });
}
