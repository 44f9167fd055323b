//! The one place of the runner that reads a clock.

use std::time::Instant;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

/// Reads the monotonic clock.
#[expect(
    clippy::disallowed_methods,
    reason = "measuring a server from outside is about real time"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the day, as in 2026-11-29.
#[expect(
    clippy::disallowed_methods,
    reason = "a figure is worth something with its date only"
)]
pub(crate) fn today() -> String {
    date_of(SystemTime::now())
}

/// Returns the day of a time.
pub(crate) fn date_of(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH);
    date(since.map_or(0, |time| time.as_secs() / SECONDS_PER_DAY))
}

/// Returns the date that lies so many days after the first of 1970.
fn date(days: u64) -> String {
    let (mut year, mut left) = (1970, days);
    while left >= year_days(year) {
        left -= year_days(year);
        year += 1;
    }
    let mut month = 1;
    for days in MONTH_DAYS {
        let leap_day = u64::from(month == 2 && year_days(year) == 366);
        if left < days + leap_day {
            break;
        }
        left -= days + leap_day;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

fn year_days(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(is_leap)
}

const SECONDS_PER_DAY: u64 = 86_400;

const MONTH_DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_leap_years() {
        for (days, text) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_786, "2026-11-29"),
            (20_818, "2026-12-31"),
            (20_819, "2027-01-01"),
        ] {
            assert_eq!(date(days), text);
        }
    }
}
