//! Does what takes more than one taking of the lock: moves the clock from deadline to deadline, and lets
//! clients act in between.

use std::sync::Arc;
use std::time::Duration;

use tailrace_storage::Instant;
use tailrace_storage::Millis;

use super::clock::TestClock;
use super::held::PAUSED;
use super::jobs::Job;
use super::jobs::Outcome;
use super::jobs::Task;
use super::jobs::Until;
use super::stage::Stage;
use crate::clock::Clock;
use crate::engine::Engine;

/// Does the jobs of a stage, one after the other, for as long as its engines live.
pub(crate) async fn run(stage: Arc<Stage>, engines: Vec<Arc<Engine>>) {
    let driver = Driver {
        clock: Arc::clone(&stage.clock),
        engines,
        stage,
    };
    loop {
        if std::mem::take(&mut driver.stage.jobs.lock().is_time_ahead) {
            driver.on_time();
        }
        let job = driver.stage.jobs.lock().take();
        match job {
            Some(job) => {
                let outcome = driver.perform(job.task).await;
                driver.answer(&job, outcome);
            }
            None if driver.jump_if_all_wait() => tokio::task::yield_now().await,
            None => driver.stage.bell.notified().await,
        }
    }
}

struct Driver {
    engines: Vec<Arc<Engine>>,
    clock: Arc<TestClock>,
    stage: Arc<Stage>,
}

impl Driver {
    async fn perform(&self, task: Task) -> Outcome {
        match task {
            Task::Advance(until) => match self.end_of(until) {
                Ok(end) => {
                    self.travel_to(end);
                    self.arrived()
                }
                Err(reason) => Outcome::Failed(reason),
            },
            Task::Run {
                by,
                clients,
                patience,
            } => self.run(by, clients, patience).await,
            Task::Resume => self.resume(),
        }
    }

    /// Where time is to move to. Moves to the deadlines before the last one.
    fn end_of(&self, until: Until) -> Result<Instant, String> {
        let now = self.clock.now();
        match until {
            Until::Passed(by) => Ok(now.mono + by),
            Until::Wall(millis) => {
                let shown = now.wall.0 / 1_000;
                match millis.saturating_mul(1_000).checked_sub(now.wall.0) {
                    Some(micros) => Ok(Instant(now.mono.0 + micros)),
                    None if millis == shown => Ok(now.mono),
                    None => Err(format!(
                        "the clock shows {shown}, which is past {millis}; FREEZE and SKEW turn it back"
                    )),
                }
            }
            Until::Deadlines(count) => {
                for passed in 0..count {
                    match self.on_time() {
                        None => {
                            return Err(format!(
                                "nothing is due any more after {passed} deadlines"
                            ));
                        }
                        Some(next) if passed + 1 == count => return Ok(next),
                        Some(next) => self.clock.advance_to(next),
                    }
                }
                Ok(now.mono)
            }
        }
    }

    /// Moves from deadline to deadline, so that what happens at one sees its own instant. Whatever comes
    /// of it is written when this returns.
    fn travel_to(&self, end: Instant) {
        while let Some(next) = self.on_time()
            && next <= end
        {
            self.clock.advance_to(next);
        }
        self.clock.advance_to(end);
        self.on_time();
    }

    /// Does what is due on all nodes, and says when something is due next.
    fn on_time(&self) -> Option<Instant> {
        // Each does what is due, whatever is due next on others.
        let next = self.engines.iter().map(|engine| engine.on_time());
        next.fold(None, |first, next| match (first, next) {
            (Some(first), Some(next)) => Some(std::cmp::min::<Instant>(first, next)),
            (first, next) => first.or(next),
        })
    }

    /// How many clients wait, on all nodes.
    fn blocked_clients(&self) -> usize {
        let engines = self.engines.iter();
        engines
            .map(|engine| engine.look(|state| state.blocked_clients()))
            .sum()
    }

    /// Does what had become due, and then what was asked meanwhile.
    fn resume(&self) -> Outcome {
        for engine in &self.engines {
            engine.with(|state, now| {
                state.set_paused(false);
                state.begin(now);
                state.do_due(now);
                state.release(PAUSED, usize::MAX, now);
            });
        }
        Outcome::Ok
    }

    async fn run(&self, by: Millis, clients: usize, patience: Millis) -> Outcome {
        let end = self.clock.now().mono + by;
        loop {
            if let Err(reason) = self.settle(clients, patience).await {
                return Outcome::Failed(reason);
            }
            match self.on_time() {
                Some(next) if next <= end => self.travel_to(next),
                _ => break,
            }
        }
        self.travel_to(end);
        self.arrived()
    }

    /// Waits until so many clients wait.
    async fn settle(&self, clients: usize, patience: Millis) -> Result<(), String> {
        self.stage.jobs.lock().watch();
        let settled = tokio::time::timeout(Duration::from_millis(patience.0), async {
            while self.blocked_clients() < clients {
                self.stage.bell.notified().await;
            }
        });
        let settled = settled.await;
        self.stage.jobs.lock().unwatch();
        settled.map_err(|_| {
            let millis = self.clock.now().wall.0 / 1_000;
            let (blocked, patience) = (self.blocked_clients(), patience.0);
            format!("{blocked} of {clients} clients wait after {patience} ms, at {millis}")
        })
    }

    /// With `AUTO`: moves to what is due next if enough clients wait. Whether it did.
    fn jump_if_all_wait(&self) -> bool {
        let Some(wanted) = self.stage.jobs.lock().auto else {
            return false;
        };
        let next = self
            .engines
            .iter()
            .filter_map(|engine| engine.with(|state, now| state.next_deadline(now)));
        let Some(next) = next.min() else {
            return false;
        };
        let is_time = self.blocked_clients() >= wanted;
        if is_time {
            self.travel_to(next);
        }
        is_time
    }

    fn answer(&self, job: &Job, outcome: Outcome) {
        self.engines[job.engine].with(|state, now| job.awaited.finish(state, now, outcome));
    }

    fn arrived(&self) -> Outcome {
        Outcome::At(self.clock.now().wall.0 / 1_000)
    }
}
