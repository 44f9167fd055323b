//! Where the state is while a script runs, so that the functions of Lua reach it; and lends it to others
//! if the script runs for longer than `busy-reply-threshold`.
//!
//! A script runs under the engine's lock, and so long all others wait. When it is over its time, they
//! may take the state from here as they would take it there (`Engine::lock`), to be told that the
//! server is busy, or to end the script. The script takes it only for the commands that it calls. It goes
//! back once the script is over.
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

use super::raw::Lent;
use crate::state::State;

/// Where the state is while a script runs.
#[derive(Default)]
pub(crate) struct Loan {
    /// Whether others may have the state. Without `state` it is only a hint.
    is_given: AtomicBool,
    /// Whether the script goes on without help from others, so that they may wait for its end.
    is_on_its_own: AtomicBool,
    state: Mutex<Option<Lent>>,
}

impl Loan {
    /// Whether others may have the state, or might a moment ago.
    pub(crate) fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Acquire)
    }

    /// Takes the state for as long as the guard lives, if others may have it.
    pub(crate) fn lock(&self) -> Option<MappedMutexGuard<'_, State>> {
        let state = self.state.lock();
        // Another script may have begun since somebody asked.
        let state = self.is_given().then_some(state)?;
        map(state)
    }

    /// Lets nobody have the state any more: the script was told to end, and what others ask for is
    /// answered once it is over.
    pub(super) fn recall(&self) {
        if self.is_on_its_own.load(Ordering::Acquire) {
            self.is_given.store(false, Ordering::Release);
        }
    }

    /// The script needs nobody else any more.
    pub(super) fn go_on(&self) {
        self.is_on_its_own.store(true, Ordering::Release);
    }

    /// Takes the state for the script.
    pub(super) fn hold(&self) -> MappedMutexGuard<'_, State> {
        map(self.state.lock()).expect("it is here from the beginning of a run to its end")
    }

    /// A run begins.
    pub(super) fn take(&self, state: Lent) {
        *self.state.lock() = Some(state);
    }

    /// Lets others have the state. Until [`Self::go_on`] it cannot be recalled.
    pub(super) fn give(&self) {
        self.is_on_its_own.store(false, Ordering::Release);
        self.is_given.store(true, Ordering::Release);
    }

    /// A run is over: nobody reaches the state from here any more.
    pub(super) fn give_back(&self) {
        let mut kept = self.state.lock();
        self.is_given.store(false, Ordering::Release);
        *kept = None;
    }
}

fn map(state: MutexGuard<'_, Option<Lent>>) -> Option<MappedMutexGuard<'_, State>> {
    MutexGuard::try_map(state, |lent| lent.as_mut().map(Lent::state)).ok()
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
