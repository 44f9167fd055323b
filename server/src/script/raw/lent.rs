//! The state while a script runs, which the functions of Lua reach without holding on to it.

use std::ptr::NonNull;

use crate::script::loan::Loan;
use crate::state::State;

/// The state of the engine whose script runs.
///
/// Invariant: it is in its [`Loan`] while [`lend`] has the only reference to the state and does not use it, and
/// whoever looks at it has locked the loan.
pub(in crate::script) struct Lent(NonNull<State>);

// SAFETY: the state may go from thread to thread, as `lend` makes sure.
unsafe impl Send for Lent where State: Send {}

impl Lent {
    /// The state, for as long as the lock on the loan is held.
    pub(in crate::script) fn state(&mut self) -> &mut State {
        // SAFETY: the invariant says that there is no other reference that is used.
        unsafe { self.0.as_mut() }
    }
}

/// Leaves the state with its loan while something runs, even if that ends in a panic.
pub(in crate::script) fn lend<T>(state: &mut State, loan: &Loan, run: impl FnOnce() -> T) -> T {
    struct Back<'a>(&'a Loan);

    impl Drop for Back<'_> {
        fn drop(&mut self) {
            // Waits for who looks at it.
            self.0.give_back();
        }
    }

    loan.take(Lent(NonNull::from(state)));
    let _back = Back(loan);
    run()
}
