//! How long the server looks for something to do before it sleeps.
//!
//! Whoever sleeps has to be woken. Where an idle processor stops, as virtual ones do, that takes tens of microseconds,
//! which is more than most commands, and the client that sends pays for a part of it. So as long as there was
//! something to do again soon, the server does not sleep at once: it asks the sockets over and over (busy polling).
//! That costs at most as much time as was idle anyway, and only while clients come that fast: after one wait in vain
//! it sleeps at once, until a wait turns out to have been short.

use tailrace_storage::Instant;
use tokio::sync::futures::Notified;

use crate::clock::Clock;
use crate::clock::SystemClock;

/// Waits for what there is to do.
pub(crate) struct Patience {
    /// Up to how many microseconds a wait is short; with 0 it always sleeps.
    short_micros: u64,
    /// The last wait was short, so the next one may be.
    expects_soon: bool,
    /// The host's, whatever time the engine goes by.
    clock: SystemClock,
}

impl Patience {
    /// Waits without sleep for up to `short_micros`, if that was enough the last time.
    pub(crate) fn new(short_micros: u64) -> Self {
        Self {
            short_micros,
            expects_soon: false,
            clock: SystemClock::new(),
        }
    }

    /// Waits until it is told of something to do.
    pub(crate) async fn wait(&mut self, told: Notified<'_>) {
        if self.short_micros == 0 {
            return told.await;
        }
        tokio::pin!(told);
        let began = self.clock.mono();
        while self.goes_on(began, self.clock.mono()) {
            tokio::select! {
                biased;
                () = told.as_mut() => return,
                // The sockets are asked before this is done.
                () = tokio::task::yield_now() => {}
            }
        }
        told.await;
        self.note(began, self.clock.mono());
    }

    fn goes_on(&self, began: Instant, now: Instant) -> bool {
        self.expects_soon && self.is_short(began, now)
    }

    /// Learns from a wait that was slept through.
    fn note(&mut self, began: Instant, ended: Instant) {
        self.expects_soon = self.is_short(began, ended);
    }

    fn is_short(&self, began: Instant, now: Instant) -> bool {
        now.0.saturating_sub(began.0) < self.short_micros
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_polls_busily_only_after_a_wait_that_was_short() {
        let mut patience = Patience::new(50);
        assert!(
            !patience.goes_on(Instant(0), Instant(0)),
            "nothing is known yet"
        );

        patience.note(Instant(1_000), Instant(1_049));
        assert!(patience.goes_on(Instant(2_000), Instant(2_049)));
        assert!(!patience.goes_on(Instant(2_000), Instant(2_050)), "in vain");

        patience.note(Instant(2_000), Instant(2_050));
        assert!(!patience.goes_on(Instant(3_000), Instant(3_000)));
    }

    #[tokio::test]
    async fn what_it_was_told_ends_the_wait_however_it_waits() {
        for (short_micros, expects_soon) in [(0, false), (50, false), (50, true), (u64::MAX, true)]
        {
            let told = tokio::sync::Notify::new();
            told.notify_one();
            let mut patience = Patience::new(short_micros);
            patience.expects_soon = expects_soon;
            patience.wait(told.notified()).await;

            let later = patience.wait(told.notified());
            let (was_told, ()) = tokio::join!(
                async {
                    later.await;
                    true
                },
                async { told.notify_one() }
            );
            assert!(was_told, "with {short_micros} us");
        }
    }
}
