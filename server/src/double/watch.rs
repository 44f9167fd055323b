//! Commands that wait until a condition holds.
//!
//! They are looked at whenever the engine's lock is about to be released, so none is missed that holds for a
//! moment only. They have patience by the host's clock: the one that the test holds may stand still.

use std::sync::Arc;
use std::time::Duration;

use tailrace_storage::Millis;
use tailrace_storage::Now;
use tokio::sync::oneshot;

use super::Double;
use super::condition::Condition;
use super::jobs::Awaited;
use super::jobs::Outcome;
use super::nodes;
use super::stage::Stage;
use crate::call::Call;
use crate::call::Flow;
use crate::state::State;

/// All of them, in the order in which they came.
#[derive(Default)]
pub(crate) struct Watches {
    watches: Vec<Watch>,
    last_number: u64,
}

/// One of them.
struct Watch {
    number: u64,
    awaited: Awaited,
    condition: Condition,
    db: usize,
}

/// Lets a call wait until `condition` holds, as long as it has `patience`.
pub(crate) fn wait(call: &mut Call<'_>, condition: Condition, patience: Millis) -> Flow {
    let (awaited, flow) = Awaited::by(call.id);
    let db = call.db;
    if let Some(double) = &mut call.state.double {
        double.watch(awaited, condition, db, patience);
    }
    flow
}

/// As [`wait`], for the program that this runs in, which waits for what holds on all nodes.
pub(crate) fn wait_from_outside(
    stage: &Arc<Stage>,
    condition: Condition,
    db: usize,
    patience: Millis,
) -> oneshot::Receiver<Outcome> {
    if !stage.is_alone() {
        let (answer, outcome) = oneshot::channel();
        nodes::wait_from_outside(stage, condition, db, patience, answer);
        return outcome;
    }
    let (awaited, outcome) = Awaited::by_program();
    if let Some(engine) = stage.engine(0)
        && !stage.jobs.lock().is_closed()
    {
        // Whoever releases the lock looks whether it holds.
        engine.with(|state, _| {
            if let Some(double) = &mut state.double {
                double.watch(awaited, condition, db, patience);
            }
        });
    }
    outcome
}

impl Double {
    fn watch(&mut self, awaited: Awaited, condition: Condition, db: usize, patience: Millis) {
        self.watches.last_number += 1;
        let number = self.watches.last_number;
        self.watches.watches.push(Watch {
            number,
            awaited,
            condition,
            db,
        });
        let (stage, engine) = (Arc::clone(&self.stage), self.engine);
        self.stage.spawn(async move {
            tokio::time::sleep(Duration::from_millis(patience.0)).await;
            if let Some(engine) = stage.engine(engine) {
                engine.with(|state, now| state.give_up_watch(number, patience, now));
            }
        });
    }
}

impl State {
    /// Answers those who wait for what holds now.
    #[inline]
    pub(crate) fn check_watches(&mut self, now: Now) {
        let double = self.double.as_ref();
        if double.is_some_and(|double| !double.watches.watches.is_empty()) {
            self.check_all_watches(now);
        }
    }

    fn check_all_watches(&mut self, now: Now) {
        let Some(double) = &mut self.double else {
            return;
        };
        double.settle_calls();
        let watches = std::mem::take(&mut double.watches.watches);
        let (over, left): (Vec<_>, Vec<_>) = watches.into_iter().partition(|watch| {
            !watch.awaited.is_awaited() || watch.condition.check(self, watch.db).is_ok()
        });
        if let Some(double) = &mut self.double {
            double.watches.watches = left;
        }
        for watch in over {
            watch.awaited.finish(self, now, Outcome::Ok);
        }
    }

    /// Tells who waits in vain what is the case instead.
    fn give_up_watch(&mut self, number: u64, patience: Millis, now: Now) {
        let Some(double) = &mut self.double else {
            return;
        };
        double.settle_calls();
        let watches = &mut double.watches.watches;
        let Some(at) = watches.iter().position(|watch| watch.number == number) else {
            return;
        };
        let watch = watches.remove(at);
        let outcome = match watch.condition.check(self, watch.db) {
            Ok(()) => Outcome::Ok,
            Err(reason) => Outcome::Failed(format!("after {} ms {reason}", patience.0)),
        };
        watch.awaited.finish(self, now, outcome);
    }
}
