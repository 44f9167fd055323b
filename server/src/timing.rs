//! How long commands take, as far as the readings of the clock tell that the engine makes anyway.
//!
//! A reading costs as much as a small command, so fast commands do not get one each. What passes
//! between two readings is shared evenly among the commands that ran in between. A command that is
//! not fast is always followed by a reading, so its time is its own unless it came in one batch
//! behind fast ones. Of the batches that hold fast commands only, one in [`SAMPLE_EVERY`] is read
//! at its end, and counts for the others: the sum over many calls is right, a single call is not
//! seen. When the slow log asks for times below [`EXACT_BELOW_MICROS`], every command is measured.

use tailrace_storage::Instant;

use crate::spec::Flags;
use crate::spec::Spec;
use crate::stats::Stats;

/// What was measured of the batch that runs.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    /// Counts the batches from one sample to the next.
    batches: u32,
    /// The first batch was a sample, so that there is something to show from the start.
    has_begun: bool,
    /// How many batches this one counts for; 0 if it is not a sample.
    weight: u64,
    is_exact: bool,
    /// The fast commands since the last reading, if this batch is a sample.
    sampled: Vec<&'static Spec>,
    /// All commands since the last reading.
    since_reading: u64,
}

impl Timing {
    /// A batch begins, right after a reading.
    pub(crate) fn begin(&mut self, slow_above_micros: Option<u64>) {
        self.batches += 1;
        self.weight = 0;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first || self.batches >= SAMPLE_EVERY {
            self.weight = u64::from(self.batches);
            self.batches = 0;
        }
        self.since_reading = 0;
        self.sampled.clear();
        self.set_threshold(slow_above_micros);
    }

    /// Commands that take so long are logged from now on.
    pub(crate) fn set_threshold(&mut self, slow_above_micros: Option<u64>) {
        self.is_exact = slow_above_micros.is_some_and(|micros| micros < EXACT_BELOW_MICROS);
    }

    /// A command ran. Whether the clock is to be read now.
    #[inline]
    pub(crate) fn on_ran(&mut self, spec: &'static Spec) -> bool {
        self.since_reading += 1;
        if self.is_exact || !spec.flags.has(Flags::FAST) {
            return true;
        }
        if self.weight > 0 {
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
        let nanos = to.0.saturating_sub(from.0).saturating_mul(1_000);
        let share = nanos / self.since_reading.max(1);
        if let Some(spec) = measured {
            stats.by_command.of(spec).nanos += share;
        }
        for spec in self.sampled.drain(..) {
            stats.by_command.of(spec).nanos += share * self.weight;
        }
        self.since_reading = 0;
        share / 1_000
    }
}

/// A prime, so that clients that take turns do not fall into step with it.
const SAMPLE_EVERY: u32 = 17;
/// No fast command takes longer, short of one that trims a stream of many thousand entries.
const EXACT_BELOW_MICROS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use tailrace_storage::Instant;

    use super::SAMPLE_EVERY;
    use super::Timing;
    use crate::commands;
    use crate::spec::Spec;
    use crate::stats::Stats;

    fn spec(name: &str) -> &'static Spec {
        commands::find(name.as_bytes()).unwrap()
    }

    #[test]
    fn the_sum_over_many_fast_calls_is_right() {
        let (mut timing, mut stats) = (Timing::default(), Stats::default());
        let mut clock = 0;
        for _ in 0..=SAMPLE_EVERY * 100 {
            timing.begin(Some(10_000));
            let from = Instant(clock);
            for _ in 0..4 {
                assert!(!timing.on_ran(spec("xlen")));
                clock += 3;
            }
            if timing.wants_reading() {
                timing.on_reading(from, Instant(clock), None, &mut stats);
            }
        }
        assert_eq!(stats.by_command.of(spec("xlen")).nanos, clock * 1_000);
    }

    #[test]
    fn a_slow_command_has_a_reading_of_its_own() {
        let (mut timing, mut stats) = (Timing::default(), Stats::default());
        timing.begin(Some(10_000));
        assert!(timing.on_ran(spec("xread")));
        let read = spec("xread");
        let micros = timing.on_reading(Instant(5), Instant(55), Some(read), &mut stats);
        assert_eq!(micros, 50);
        assert_eq!(stats.by_command.of(read).nanos, 50_000);
        assert!(!timing.wants_reading());
    }

    #[test]
    fn a_slow_log_of_everything_measures_everything() {
        let mut timing = Timing::default();
        timing.begin(Some(0));
        assert!(timing.on_ran(spec("xlen")));
        timing.begin(None);
        assert!(!timing.on_ran(spec("xlen")));
    }
}
