//! When something is due next.

use tailrace_storage::Instant;
use tailrace_storage::Now;
use tailrace_storage::UnixMillis;

/// What is due next by each of the two clocks, if anything is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deadlines {
    pub(crate) wall: Option<UnixMillis>,
    pub(crate) mono: Option<Instant>,
}

impl Deadlines {
    /// The earlier one, by the monotonic clock.
    pub(crate) fn earliest(self, now: Now) -> Option<Instant> {
        let by_wall = |at: UnixMillis| {
            let micros = at.0.saturating_mul(1_000).saturating_sub(now.wall.0);
            Instant(now.mono.0.saturating_add(micros))
        };
        sooner(self.wall.map(by_wall), self.mono)
    }

    /// Whether who waits for the `known` ones has to wake up sooner for these.
    pub(crate) fn come_before(self, known: Self) -> bool {
        is_before(self.wall, known.wall) || is_before(self.mono, known.mono)
    }
}

/// The sooner of two instants, of which there may be none.
#[inline]
pub(crate) fn sooner<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn is_before<T: Ord>(one: Option<T>, other: Option<T>) -> bool {
    one.is_some_and(|one| other.is_none_or(|other| one < other))
}

#[cfg(test)]
mod tests {
    use tailrace_storage::UnixMicros;

    use super::*;

    fn at(wall: Option<u64>, mono: Option<u64>) -> Deadlines {
        Deadlines {
            wall: wall.map(UnixMillis),
            mono: mono.map(Instant),
        }
    }

    #[test]
    fn the_earlier_clock_counts() {
        let now = Now {
            wall: UnixMicros(5_000_000),
            mono: Instant(700),
        };
        let earliest = |wall, mono| at(wall, mono).earliest(now);
        assert_eq!(earliest(None, None), None);
        assert_eq!(earliest(Some(5_002), None), Some(Instant(2_700)));
        assert_eq!(earliest(Some(5_002), Some(2_600)), Some(Instant(2_600)));
        assert_eq!(earliest(Some(4_000), Some(900)), Some(Instant(700)));
    }

    #[test]
    fn what_comes_sooner_by_either_clock_is_told() {
        let known = at(Some(10), None);
        assert!(!known.come_before(known));
        assert!(!at(None, None).come_before(known));
        assert!(!at(Some(11), None).come_before(known));
        assert!(at(Some(9), None).come_before(known));
        assert!(at(Some(10), Some(5)).come_before(known));
    }
}
