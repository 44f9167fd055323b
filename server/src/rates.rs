//! How much happened lately, for the `instantaneous_...` fields of `INFO`.
//!
//! Nobody wakes up to measure: whoever takes the lock hands in the totals, and one of a tenth of a
//! second is kept. A rate is what was added since the oldest total that is kept and not too old.

use tailrace_storage::Instant;

/// Totals at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) at: Instant,
    pub(crate) commands: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) cycles: u64,
    /// For how long there was something to do.
    pub(crate) busy_micros: u64,
}

/// The totals of the last seconds.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    /// Invariant: `next` is where the oldest one lies.
    kept: [Totals; KEPT],
    next: usize,
    newest_at: Instant,
}

/// What happens in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PerSecond {
    pub(crate) commands: u64,
    pub(crate) bytes_in: f64,
    pub(crate) bytes_out: f64,
    pub(crate) cycles: u64,
    /// What a cycle took on average.
    pub(crate) cycle_micros: u64,
}

impl Rates {
    /// Whether it is time to hand in totals again.
    #[inline]
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now.0.saturating_sub(self.newest_at.0) >= EVERY_MICROS
    }

    /// Keeps totals.
    pub(crate) fn keep(&mut self, totals: Totals) {
        self.kept[self.next] = totals;
        self.next = (self.next + 1) % KEPT;
        self.newest_at = totals.at;
    }

    /// What happened per second, given the totals of now.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are shown with two digits after the point at most, and are not negative"
    )]
    pub(crate) fn per_second(&self, now: Totals) -> PerSecond {
        let age = |totals: &Totals| now.at.0.saturating_sub(totals.at.0);
        let oldest_first = (0..KEPT).map(|step| self.kept[(self.next + step) % KEPT]);
        let newest = self.kept[(self.next + KEPT - 1) % KEPT];
        let since = oldest_first
            .into_iter()
            .find(|totals| age(totals) <= WINDOW_MICROS)
            .unwrap_or(newest);
        // Whoever had done something before would have handed in a total.
        let micros = age(&since).max(WINDOW_MICROS.min(now.at.0));
        if micros == 0 {
            return PerSecond::default();
        }
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 * 1e6 / micros as f64;
        let cycles = now.cycles.saturating_sub(since.cycles);
        let busy_micros = now.busy_micros.saturating_sub(since.busy_micros);
        PerSecond {
            commands: rate(now.commands, since.commands).round() as u64,
            bytes_in: rate(now.bytes_in, since.bytes_in),
            bytes_out: rate(now.bytes_out, since.bytes_out),
            cycles: rate(now.cycles, since.cycles).round() as u64,
            cycle_micros: busy_micros.checked_div(cycles).unwrap_or(0),
        }
    }
}

/// How many totals are kept, as in the reference.
const KEPT: usize = 16;
/// How far apart they are at least.
const EVERY_MICROS: u64 = 100_000;
/// How old the one may be that a rate is measured from.
const WINDOW_MICROS: u64 = 1_700_000;

#[cfg(test)]
mod tests {
    use tailrace_storage::Instant;

    use super::Rates;
    use super::Totals;

    fn totals(seconds: u64, commands: u64) -> Totals {
        Totals {
            at: Instant(seconds * 1_000_000),
            commands,
            bytes_in: commands * 1_024,
            bytes_out: 0,
            cycles: commands / 10,
            busy_micros: commands * 2,
        }
    }

    #[test]
    fn a_rate_is_what_was_added_lately() {
        let mut rates = Rates::default();
        rates.keep(totals(10, 0));
        rates.keep(totals(100, 1_000));
        let rate = rates.per_second(totals(101, 2_700));
        assert_eq!(rate.commands, 1_000);
        assert!((rate.bytes_in - 1_024_000.0).abs() < 1.0);
        assert_eq!((rate.cycles, rate.cycle_micros), (100, 20));
    }

    #[test]
    fn a_young_server_counts_from_its_start() {
        let rate = Rates::default().per_second(totals(1, 500));
        assert_eq!(rate.commands, 500);
    }

    #[test]
    fn after_a_long_silence_it_is_nearly_nothing() {
        let mut rates = Rates::default();
        rates.keep(totals(10, 1_000_000));
        assert_eq!(rates.per_second(totals(1_010, 1_000_001)).commands, 0);
    }
}
