//! The time of a server, which a test holds.

use std::time::Duration;

use tailrace_storage::Millis;
use tailrace_storage::UnixMillis;

use super::Answer;
use super::TestError;
use super::TestServer;
use crate::clock::Clock;
use crate::config::WALL_MAX_MS;
use crate::double::clock::Pace;
use crate::double::jobs;
use crate::double::jobs::Outcome;
use crate::double::jobs::Task;
use crate::double::jobs::Until;

/// The one clock by which ids are made, keys expire, entries become idle and waits end.
///
/// Times are milliseconds since 1970, as the server's own commands have them. What moves the clock is answered with
/// what it shows then, once everything that became due has happened and is written.
#[derive(Clone, Copy)]
pub struct TestClock<'a>(pub(super) &'a TestServer);

impl TestClock<'_> {
    /// What it shows.
    pub fn now(self) -> u64 {
        self.0.stage.clock.now().wall.0 / 1_000
    }

    /// Lets it stand still.
    pub fn freeze(self) {
        self.set(None, |clock| clock.freeze(None));
    }

    /// Lets it stand still at a time, which may be in the past. How long something has waited does not change.
    pub fn freeze_at(self, unix_ms: u64) {
        let at = UnixMillis(unix_ms.min(WALL_MAX_MS));
        self.set(None, |clock| clock.freeze(Some(at)));
    }

    /// Lets it go as the host's, or tokio's, and show the same.
    pub fn real(self) {
        self.set(None, |clock| clock.set_pace(Pace::Real));
    }

    /// Lets it go so many times as fast.
    ///
    /// # Errors
    ///
    /// If that is no positive number.
    pub fn scale(self, factor: f64) -> Result<(), TestError> {
        if !factor.is_finite() || factor <= 0.0 {
            return Err(TestError::Not(format!(
                "the clock does not run {factor} times as fast; freeze() stops it"
            )));
        }
        self.set(None, |clock| clock.set_pace(Pace::Scaled(factor)));
        Ok(())
    }

    /// Freezes it, and moves it to what is due next whenever so many clients wait.
    pub fn auto(self, clients: usize) {
        self.set(Some(clients), |clock| clock.freeze(None));
    }

    /// Freezes it, and lets each command of a client move it by so much when it comes.
    pub fn tick(self, by: Duration) {
        self.freeze();
        self.0.stage.set_tick(millis(by));
    }

    /// Turns the wall clock alone, as an operator or NTP would: backwards if negative.
    pub fn skew(self, ms: i64) {
        self.0.stage.clock.turn_wall(i128::from(ms) * 1_000);
        self.0.stage.bell.notify_one();
    }

    /// Moves it by so much.
    pub fn advance(self, by: Duration) -> Answer<u64> {
        self.leave(Task::Advance(Until::Passed(millis(by))))
    }

    /// Moves it to a time.
    pub fn advance_to(self, unix_ms: u64) -> Answer<u64> {
        self.leave(Task::Advance(Until::Wall(unix_ms.min(WALL_MAX_MS))))
    }

    /// Moves it to what is due next, so many times.
    pub fn next(self, deadlines: u64) -> Answer<u64> {
        self.leave(Task::Advance(Until::Deadlines(deadlines)))
    }

    /// Moves it by so much from deadline to deadline, each time once so many clients wait again, for which they have
    /// `patience`, by the host's clock.
    pub fn run(self, by: Duration, clients: usize, patience: Duration) -> Answer<u64> {
        self.leave(Task::Run {
            by: millis(by),
            clients,
            patience: millis(patience),
        })
    }

    fn set(self, auto: Option<usize>, set: impl FnOnce(&crate::double::clock::TestClock)) {
        let stage = &self.0.stage;
        set(&stage.clock);
        stage.jobs.lock().auto = auto;
        stage.set_tick(Millis(0));
        stage.bell.notify_one();
    }

    fn leave(self, task: Task) -> Answer<u64> {
        let outcome = jobs::leave_from_outside(&self.0.stage, task);
        let read = |outcome| match outcome {
            Outcome::At(millis) => millis,
            _ => 0,
        };
        Answer::new(Ok(outcome), read, self.0.life.is_here())
    }
}

/// As the server counts, and never beyond what it can show.
pub(super) fn millis(duration: Duration) -> Millis {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Millis(millis.min(WALL_MAX_MS))
}
