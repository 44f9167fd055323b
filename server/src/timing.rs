//! How long commands take, as far as the readings of the clock tell that the engine makes anyway.
//!
//! A reading costs as much as a small command, so fast commands do not get one each. What passes
//! between two readings is shared among the commands that ran in between: those that are fast take
//! what such commands took lately, and the one that the reading was for takes the rest. A command is
//! followed by a reading if it is not fast, or if what it was sent, answered or did to the data is
//! large; some that are not listed as fast take no longer than these are large, and count as fast here.
//! Of the fast ones each kind is measured every now and then, by the end of its batch, and a
//! measurement counts for all calls since the one before: the sum over many calls is right, a
//! single call is not seen. When the log of slow commands asks for times below
//! [`EXACT_BELOW_MICROS`], or when events that take long are sampled or slots measured, every command is measured.

use tailrace_storage::Instant;

use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;
use crate::stats::Stats;

/// What was measured of the batch that runs.
#[derive(Debug)]
pub(crate) struct Timing {
    is_exact: bool,
    /// The fast commands since the last reading that are to be measured.
    sampled: Vec<&'static Spec>,
    /// All commands since the last reading.
    since_reading: u64,
    /// What a fast command took lately, in nanoseconds.
    usual_nanos: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            is_exact: false,
            sampled: Vec::new(),
            since_reading: 0,
            usual_nanos: USUAL_NANOS,
        }
    }
}

impl Timing {
    /// A batch begins, right after a reading.
    pub(crate) fn begin(&mut self) {
        self.since_reading = 0;
        self.sampled.clear();
    }

    /// Commands that take so long are logged from now on; whether each is to be timed anyway.
    pub(crate) fn set_thresholds(&mut self, slow_above_micros: Option<u64>, times_each: bool) {
        let is_low = slow_above_micros.is_some_and(|micros| micros < EXACT_BELOW_MICROS);
        self.is_exact = is_low || times_each;
    }

    /// A command ran, with so many bytes. Whether the clock is to be read now.
    #[inline]
    pub(crate) fn on_ran(&mut self, spec: &'static Spec, bytes: usize, stats: &mut Stats) -> bool {
        self.since_reading += 1;
        if self.is_exact || bytes > LARGE_BYTES || !spec.flags.has(Flags::FAST | Flags::BY_SIZE) {
            return true;
        }
        let is_sampled = self.sampled.last();
        let is_sampled = is_sampled.is_some_and(|last| std::ptr::eq(*last, spec));
        if !is_sampled && stats.by_command.wants_measuring(spec) {
            self.sampled.push(spec);
        }
        false
    }

    /// Whether the end of the batch is worth a reading.
    pub(crate) fn wants_reading(&self) -> bool {
        !self.sampled.is_empty()
    }

    /// The clock was read: `measured` ran last, if it is what the reading was for. Gives what that
    /// command took, in microseconds.
    pub(crate) fn on_reading(
        &mut self,
        from: Instant,
        to: Instant,
        measured: Option<&'static Spec>,
        stats: &mut Stats,
    ) -> u64 {
        let micros = to.0.saturating_sub(from.0);
        stats.cycle_micros_max = stats.cycle_micros_max.max(micros);
        let nanos = micros.saturating_mul(1_000);
        let count = std::mem::take(&mut self.since_reading);
        let mut own = 0;
        let mut others = count;
        if let Some(spec) = measured {
            others = count.saturating_sub(1);
            let usual = self.usual_nanos.saturating_mul(others);
            own = nanos.saturating_sub(usual).max(nanos / count.max(1));
            stats.by_command.on_measured(spec, own);
        }
        if let Some(each) = (nanos - own).checked_div(others) {
            if measured.is_none() {
                let each = each.min(USUAL_NANOS_MAX);
                self.usual_nanos = (self.usual_nanos * 7 + each) / 8;
            }
            for spec in self.sampled.drain(..) {
                stats.by_command.on_measured(spec, each);
            }
        }
        self.sampled.clear();
        own / 1_000
    }
}

impl State {
    /// A command ran. Whether the clock is to be read now.
    #[inline]
    pub(crate) fn wants_reading_after(&mut self, spec: &'static Spec) -> bool {
        let Self { timing, stats, .. } = self;
        timing.on_ran(spec, self.touched_bytes, stats)
    }

    /// How much time passed since `began`, in microseconds.
    pub(crate) fn micros_since(&self, began: Instant) -> u64 {
        self.clock.mono().0.saturating_sub(began.0)
    }

    /// What is to be known of calls that were not measured by themselves is as good as it gets.
    pub(crate) fn settle_times(&mut self) {
        let Self { timing, stats, .. } = self;
        stats.by_command.settle(timing.usual_nanos);
    }
}

/// No fast command takes longer, unless it is large.
const EXACT_BELOW_MICROS: u64 = 1_000;
/// Fast commands that move so many bytes are measured: it takes them a microsecond at least.
const LARGE_BYTES: usize = 16 * 1_024;
/// What a fast command takes, as long as nothing is known.
const USUAL_NANOS: u64 = 1_000;
/// A batch that seems to have taken longer was kept waiting by the system.
const USUAL_NANOS_MAX: u64 = 20_000;

#[cfg(test)]
mod tests {
    use tailrace_storage::Instant;

    use super::LARGE_BYTES;
    use super::Timing;
    use crate::commands;
    use crate::spec::Spec;
    use crate::stats::CommandStats;
    use crate::stats::Stats;

    fn spec(name: &str) -> &'static Spec {
        commands::find(name.as_bytes()).unwrap()
    }

    fn of(stats: &mut Stats, name: &str) -> CommandStats {
        stats.by_command.settle(1_000);
        let found = stats.by_command.iter().find(|row| row.0 == name);
        found.map_or_else(CommandStats::default, |(_, counters, _)| counters)
    }

    #[test]
    fn the_sum_over_many_fast_calls_is_right() {
        let (mut timing, mut stats) = (Timing::default(), Stats::default());
        let (mut clock, mut readings) = (0, 0);
        for _ in 0..1_000 {
            timing.begin();
            let from = Instant(clock);
            for name in ["xlen", "xrange", "xlen"] {
                stats.on_call(spec(name));
                assert!(!timing.on_ran(spec(name), 100, &mut stats));
                clock += 3;
            }
            if timing.wants_reading() {
                readings += 1;
                timing.on_reading(from, Instant(clock), None, &mut stats);
            }
        }
        assert_eq!(of(&mut stats, "xlen").nanos, 2 * 3 * 1_000 * 1_000);
        assert_eq!(of(&mut stats, "xrange").nanos, 3 * 1_000 * 1_000);
        assert!(readings < 200, "{readings} readings for 3000 calls");
    }

    #[test]
    fn a_slow_command_has_a_reading_of_its_own() {
        let (mut timing, mut stats) = (Timing::default(), Stats::default());
        timing.begin();
        let slow = spec("xpending");
        stats.on_call(slow);
        assert!(timing.on_ran(slow, 100, &mut stats));
        let micros = timing.on_reading(Instant(5), Instant(55), Some(slow), &mut stats);
        assert_eq!(micros, 50);
        assert_eq!(of(&mut stats, "xpending").nanos, 50_000);
        assert!(!timing.wants_reading());
    }

    #[test]
    fn a_large_command_behind_small_ones_is_seen() {
        let (mut timing, mut stats) = (Timing::default(), Stats::default());
        timing.begin();
        let (small, large) = (spec("xlen"), spec("xadd"));
        for _ in 0..60 {
            stats.on_call(small);
            assert!(!timing.on_ran(small, 100, &mut stats));
        }
        stats.on_call(large);
        assert!(timing.on_ran(large, LARGE_BYTES + 1, &mut stats));
        let micros = timing.on_reading(Instant(0), Instant(20_000), Some(large), &mut stats);
        assert_eq!(micros, 20_000 - 60);
    }

    #[test]
    fn everything_is_measured_when_asked_for() {
        let (mut timing, mut stats) = (Timing::default(), Stats::default());
        for (slow_above, has_events, is_exact) in [
            (Some(0), false, true),
            (Some(10_000), true, true),
            (Some(10_000), false, false),
            (None, false, false),
        ] {
            timing.begin();
            timing.set_thresholds(slow_above, has_events);
            assert_eq!(timing.on_ran(spec("xlen"), 0, &mut stats), is_exact);
        }
    }
}
