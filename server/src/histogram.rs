//! How long the calls of one command took, as the reference keeps it: to two significant digits.

use hdrhistogram::Histogram;

/// Durations of calls, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Durations(Histogram<u64>);

impl Default for Durations {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, NANOS_MAX, SIGNIFICANT_DIGITS);
        Self(histogram.expect("these bounds are far enough apart"))
    }
}

impl Durations {
    /// Adds `count` calls that took so long each; one above a second counts as a second.
    pub(crate) fn record(&mut self, nanos: u64, count: u64) {
        self.0.saturating_record_n(nanos.clamp(1, NANOS_MAX), count);
    }

    /// How many calls there were.
    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// What so many percent of the calls did not exceed, in nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the reference counts in doubles here"
    )]
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        let wanted = percent / 100.0 * self.count() as f64 + 0.5;
        let wanted = (wanted as u64).max(1);
        let mut count = 0;
        for step in self.0.iter_recorded() {
            count += step.count_at_value();
            if count >= wanted {
                return if percent == 0.0 {
                    self.0.lowest_equivalent(step.value_iterated_to())
                } else {
                    self.0.highest_equivalent(step.value_iterated_to())
                };
            }
        }
        0
    }

    /// How many calls took up to about a microsecond, up to twice that, and so on, in microseconds;
    /// steps that add nothing are left out.
    pub(crate) fn doublings(&self) -> Vec<(u64, u64)> {
        let mut shown = Vec::new();
        let (mut limit, mut count, mut shown_count) = (FIRST_LIMIT_NANOS, 0, 0);
        let micros = |limit| self.0.highest_equivalent(limit).min(NANOS_END - 1) / 1_000;
        for step in self.0.iter_recorded() {
            while step.value_iterated_to() > self.0.highest_equivalent(limit) {
                if count > shown_count {
                    shown.push((micros(limit), count));
                    shown_count = count;
                }
                limit *= 2;
            }
            count += step.count_at_value();
        }
        if count > shown_count {
            shown.push((micros(limit), count));
        }
        shown
    }
}

/// The longest duration that is told from others.
const NANOS_MAX: u64 = 1_000_000_000;
/// Where the table of the reference ends that holds it.
const NANOS_END: u64 = 1 << 30;
/// As many as the reference keeps: a duration is right to one in a hundred.
const SIGNIFICANT_DIGITS: u8 = 2;
/// The first step of what is shown.
const FIRST_LIMIT_NANOS: u64 = 1_024;

#[cfg(test)]
mod tests {
    use super::Durations;

    fn durations(micros: &[u64]) -> Durations {
        let mut durations = Durations::default();
        for micros in micros {
            durations.record(micros * 1_000, 1);
        }
        durations
    }

    #[test]
    fn steps_double_and_add_up() {
        assert_eq!(durations(&[0, 0, 1]).doublings(), [(1, 3)]);
        assert_eq!(
            durations(&[1, 2, 3, 40, 5_000]).doublings(),
            [(1, 1), (2, 2), (4, 3), (66, 4), (8_454, 5)]
        );
        assert_eq!(durations(&[]).doublings(), []);
    }

    #[test]
    fn what_is_longer_than_a_second_counts_as_a_second() {
        assert_eq!(durations(&[7_000_000]).doublings(), [(1_073_741, 1)]);
        assert_eq!(durations(&[7_000_000]).percentile(100.0), 1_002_438_655);
    }

    #[test]
    fn a_percentile_is_not_exceeded_by_so_many() {
        let hundred: Vec<u64> = (1..=100).collect();
        let durations = durations(&hundred);
        assert_eq!(durations.percentile(50.0), 50_175);
        assert_eq!(durations.percentile(100.0), 100_351);
        assert_eq!(durations.percentile(0.0), 1_000);
        assert_eq!(Durations::default().percentile(99.9), 0);
    }
}
