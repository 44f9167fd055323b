//! A clock that a test holds: it runs, stands still, runs at another speed, and jumps.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;
use tailrace_storage::Instant;
use tailrace_storage::Now;
use tailrace_storage::UnixMicros;
use tailrace_storage::UnixMillis;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::config::StartClock;

/// The clock of a test double. The monotonic hand never goes back; the wall's does when told to.
pub(crate) struct TestClock {
    /// What it goes by while it runs.
    base: Arc<dyn Clock>,
    hands: Mutex<Hands>,
    /// The hands show what `base` does, so that nobody need look at them.
    is_base: AtomicBool,
    /// Told when the clock begins to run, stops, or runs at another speed.
    moved: Arc<Notify>,
}

/// How a clock goes by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// As the host's, whose wall clock it follows.
    Real,
    /// Not at all.
    Frozen,
    /// So many times as fast as the host's.
    Scaled(f64),
}

/// How a clock goes and what its wall shows, to go back to. Where the pace is the host's, it is by how much the wall is
/// ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    pace: Pace,
    wall: i128,
}

impl Standing {
    /// How it goes.
    pub(crate) fn pace(self) -> Pace {
        self.pace
    }

    /// What the wall shows in milliseconds, unless it follows the host's.
    pub(crate) fn shown_ms(self) -> i128 {
        self.wall.div_euclid(1_000)
    }
}

/// Where the hands were at some instant, and how they go from there.
#[derive(Clone, Copy)]
struct Hands {
    pace: Pace,
    /// The instant, by the host's monotonic clock.
    since: Instant,
    mono: Instant,
    /// In microseconds; by how much it is ahead of the host's, if the pace is the host's.
    wall: i128,
}

impl TestClock {
    /// A clock that shows the time of `base`, which is the host's as a rule, and runs with it.
    pub(crate) fn on(base: Arc<dyn Clock>) -> Self {
        let mono = base.mono();
        Self {
            base,
            hands: Mutex::new(Hands {
                pace: Pace::Real,
                since: mono,
                mono,
                wall: 0,
            }),
            is_base: AtomicBool::new(true),
            moved: Arc::new(Notify::new()),
        }
    }

    /// Every move of the hands comes through here.
    fn turn(&self, turn: impl FnOnce(&mut Hands, Now)) {
        let real = self.base.now();
        let mut hands = self.hands.lock();
        turn(&mut hands, real);
        let shows_base = hands.at(real) == real && hands.pace == Pace::Real;
        self.is_base.store(shows_base, Ordering::Release);
    }

    /// The monotonic clock that it goes by while it runs.
    pub(crate) fn host_mono(&self) -> Instant {
        self.base.mono()
    }

    /// How it goes.
    pub(crate) fn pace(&self) -> Pace {
        self.hands.lock().pace
    }

    /// Lets it go at another pace from here on. The host's pace brings the host's wall clock back.
    pub(crate) fn set_pace(&self, pace: Pace) {
        self.turn(|hands, real| {
            let now = hands.at(real);
            *hands = Hands {
                pace,
                since: real.mono,
                mono: now.mono,
                wall: match pace {
                    Pace::Real => 0,
                    Pace::Frozen | Pace::Scaled(_) => i128::from(now.wall.0),
                },
            };
        });
        self.moved.notify_one();
    }

    /// Stops it, where it stands or with the wall showing `at`; the monotonic clock does not follow.
    pub(crate) fn freeze(&self, at: Option<UnixMillis>) {
        self.set_pace(Pace::Frozen);
        if let Some(at) = at {
            self.turn(|hands, _| hands.wall = i128::from(at.0) * 1_000);
        }
    }

    /// Begins as the configuration says, with the host's time where that names none.
    pub(crate) fn begin(&self, start: StartClock) {
        self.set_pace(Pace::Real);
        match start {
            StartClock::Real => {}
            StartClock::Frozen(at) => self.freeze(at.map(UnixMillis)),
            StartClock::Auto(_) => self.freeze(None),
        }
    }

    /// How it stands.
    pub(crate) fn standing(&self) -> Standing {
        let real = self.base.now();
        let hands = self.hands.lock();
        let wall = match hands.pace {
            Pace::Real => hands.wall,
            Pace::Frozen | Pace::Scaled(_) => i128::from(hands.at(real).wall.0),
        };
        Standing {
            pace: hands.pace,
            wall,
        }
    }

    /// Goes on as it did when it stood so. The monotonic hand goes on from where it is.
    pub(crate) fn go_back_to(&self, standing: Standing) {
        self.set_pace(standing.pace);
        self.turn(|hands, _| hands.wall = standing.wall);
        self.moved.notify_one();
    }

    /// Turns the wall clock alone, as an operator or NTP would: backwards if `micros` is negative.
    pub(crate) fn turn_wall(&self, micros: i128) {
        self.turn(|hands, _| hands.wall += micros);
        self.moved.notify_one();
    }

    /// Jumps ahead until the monotonic clock shows `to`; does nothing if it is past that. Nobody is told:
    /// whoever jumps does what is due then.
    pub(crate) fn advance_to(&self, to: Instant) {
        self.turn(|hands, real| {
            let micros = to.0.saturating_sub(hands.at(real).mono.0);
            hands.mono.0 += micros;
            hands.wall += i128::from(micros);
        });
    }
}

impl Clock for TestClock {
    fn now(&self) -> Now {
        let real = self.base.now();
        if self.is_base.load(Ordering::Acquire) {
            return real;
        }
        self.hands.lock().at(real)
    }

    fn moved(&self) -> Option<Arc<Notify>> {
        Some(Arc::clone(&self.moved))
    }

    fn real_time_until(&self, deadline: Instant) -> Option<Duration> {
        let left = Duration::from_micros(deadline.0.saturating_sub(self.now().mono.0));
        match self.pace() {
            Pace::Real => Some(left),
            Pace::Frozen => None,
            Pace::Scaled(factor) => Some(left.div_f64(factor)),
        }
    }
}

impl Hands {
    fn at(&self, real: Now) -> Now {
        let passed = real.mono.0.saturating_sub(self.since.0);
        let passed = match self.pace {
            Pace::Real => passed,
            Pace::Frozen => 0,
            Pace::Scaled(factor) => scaled(passed, factor),
        };
        let wall = match self.pace {
            Pace::Real => i128::from(real.wall.0) + self.wall,
            Pace::Frozen | Pace::Scaled(_) => self.wall + i128::from(passed),
        };
        Now {
            wall: UnixMicros(u64::try_from(wall.max(0)).unwrap_or(u64::MAX)),
            mono: Instant(self.mono.0 + passed),
        }
    }
}

fn scaled(micros: u64, factor: f64) -> u64 {
    let scaled = Duration::from_micros(micros).mul_f64(factor).as_micros();
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use tailrace_storage::Millis;

    use super::*;
    use crate::clock::SystemClock;

    fn clock() -> TestClock {
        TestClock::on(Arc::new(SystemClock::new()))
    }

    #[test]
    fn a_frozen_clock_moves_only_when_told_to() {
        let clock = clock();
        clock.freeze(Some(UnixMillis(5_000)));
        let before = clock.now();
        assert_eq!(before.wall, UnixMicros(5_000_000));
        clock.advance_to(before.mono + Millis(7));
        let after = clock.now();
        assert_eq!(after.wall, UnixMicros(5_007_000));
        assert_eq!(after.mono, before.mono + Millis(7));
        assert_eq!(clock.real_time_until(after.mono + Millis(1)), None);
    }

    #[test]
    fn the_wall_turns_back_alone() {
        let clock = clock();
        clock.freeze(None);
        let before = clock.now();
        clock.turn_wall(-3_000);
        let after = clock.now();
        assert_eq!(after.wall.0, before.wall.0 - 3_000);
        assert_eq!(after.mono, before.mono);
    }

    #[test]
    fn a_jump_lasts_at_any_pace() {
        let clock = clock();
        for pace in [Pace::Real, Pace::Scaled(2.0), Pace::Frozen] {
            clock.set_pace(pace);
            let before = clock.now();
            clock.advance_to(before.mono + Millis(3_600_000));
            let after = clock.now();
            assert!(after.mono >= before.mono + Millis(3_600_000), "{pace:?}");
            // The host's two clocks are not read in the same microsecond.
            assert!(after.wall.0 >= before.wall.0 + 3_599_999_000, "{pace:?}");
        }
    }

    #[test]
    fn it_goes_back_to_how_it_stood() {
        let clock = clock();
        clock.freeze(Some(UnixMillis(5_000)));
        let frozen = clock.standing();
        let before = clock.now();
        clock.advance_to(before.mono + Millis(7));
        clock.set_pace(Pace::Real);
        clock.turn_wall(-3_000);
        let skewed = clock.standing();
        clock.go_back_to(frozen);
        assert_eq!(clock.now().wall, UnixMicros(5_000_000));
        assert!(clock.now().mono >= before.mono + Millis(7));
        clock.go_back_to(skewed);
        assert_eq!(clock.standing(), skewed);
        assert_eq!(clock.pace(), Pace::Real);
    }

    #[test]
    fn what_is_far_at_a_higher_speed_comes_sooner() {
        let clock = clock();
        clock.set_pace(Pace::Scaled(1_000.0));
        let left = clock.real_time_until(clock.now().mono + Millis(10_000));
        assert!(left.is_some_and(|left| left <= Duration::from_millis(10)));
    }
}
