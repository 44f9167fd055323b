//! Points in time and lengths of time, one type for each clock and unit.
//!
//! Wall-clock time makes IDs, idle times and expiries; it may step back. Monotonic time makes the deadlines of waits;
//! it never does. Mixing the two is a compile error.

use std::ops::Add;

/// A point on the wall clock: microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMicros(pub u64);

impl UnixMicros {
    /// Drops what is below a millisecond.
    #[must_use]
    pub const fn to_millis(self) -> UnixMillis {
        UnixMillis(self.0 / MICROS_PER_MILLI)
    }

    /// Returns the whole seconds since the Unix epoch.
    #[must_use]
    pub const fn to_seconds(self) -> u64 {
        self.0 / MICROS_PER_SECOND
    }
}

impl From<UnixMicros> for UnixMillis {
    fn from(at: UnixMicros) -> Self {
        at.to_millis()
    }
}

/// A point on the wall clock: milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// Returns how long ago `earlier` was, or zero if the clock stepped back and it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// Returns the point `ago` before this one, but not one before the epoch.
    #[must_use]
    pub const fn saturating_sub(self, ago: Millis) -> Self {
        Self(self.0.saturating_sub(ago.0))
    }
}

impl Add<Millis> for UnixMillis {
    type Output = Self;

    /// Stops at the end of time instead of overflowing.
    fn add(self, later: Millis) -> Self {
        Self(self.0.saturating_add(later.0))
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// Returns how many whole seconds that is.
    #[must_use]
    pub const fn to_seconds(self) -> u64 {
        self.0 / MILLIS_PER_SECOND
    }
}

/// A point on the monotonic clock: microseconds since a start of no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// Returns how long ago `earlier` was in whole milliseconds, or zero if it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0) / MICROS_PER_MILLI)
    }
}

impl Add<Millis> for Instant {
    type Output = Self;

    /// Stops at the end of time instead of overflowing.
    fn add(self, later: Millis) -> Self {
        Self(
            self.0
                .saturating_add(later.0.saturating_mul(MICROS_PER_MILLI)),
        )
    }
}

/// One reading of both clocks, taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// What the wall clock shows.
    pub wall: UnixMicros,
    /// What the monotonic clock shows.
    pub mono: Instant,
}

impl Now {
    /// Returns the wall clock's milliseconds, the unit of IDs and idle times.
    #[must_use]
    pub const fn unix(self) -> UnixMillis {
        self.wall.to_millis()
    }

    /// Returns how many seconds of the wall clock have begun since `earlier`: one may have begun just
    /// now.
    #[must_use]
    pub const fn seconds_begun_since(self, earlier: Instant) -> u64 {
        let micros = self.mono.0.saturating_sub(earlier.0);
        let then = UnixMicros(self.wall.0.saturating_sub(micros));
        self.wall.to_seconds() - then.to_seconds()
    }
}

const MILLIS_PER_SECOND: u64 = 1_000;
const MICROS_PER_MILLI: u64 = 1_000;
const MICROS_PER_SECOND: u64 = MICROS_PER_MILLI * MILLIS_PER_SECOND;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stepped_back_makes_no_negative_age() {
        assert_eq!(UnixMillis(5).since(UnixMillis(9)), Millis(0));
        assert_eq!(Instant(5_000).since(Instant(9_000)), Millis(0));
        assert_eq!(Instant(9_999).since(Instant(5_000)), Millis(4));
    }

    #[test]
    fn a_deadline_beyond_the_end_of_time_is_the_end_of_time() {
        assert_eq!(Instant(1) + Millis(u64::MAX), Instant(u64::MAX));
        assert_eq!(UnixMillis(1) + Millis(u64::MAX), UnixMillis(u64::MAX));
        assert_eq!(UnixMillis(1).saturating_sub(Millis(2)), UnixMillis(0));
    }

    #[test]
    fn a_second_begins_when_the_wall_clock_says_so() {
        let now = Now {
            wall: UnixMicros(9_000_001),
            mono: Instant(20_000_000),
        };
        assert_eq!(now.seconds_begun_since(Instant(20_000_000)), 0);
        assert_eq!(now.seconds_begun_since(Instant(19_999_999)), 0);
        assert_eq!(now.seconds_begun_since(Instant(19_999_998)), 1);
        assert_eq!(now.seconds_begun_since(Instant(18_999_999)), 1);
        assert_eq!(now.seconds_begun_since(Instant(20_000_001)), 0);
    }

    #[test]
    fn milliseconds_come_from_the_wall_clock() {
        let now = Now {
            wall: UnixMicros(1_999),
            mono: Instant(7),
        };
        assert_eq!(now.unix(), UnixMillis(1));
    }
}
