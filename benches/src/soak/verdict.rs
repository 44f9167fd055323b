//! What the minutes of a soak come to.

use std::fmt::Display;
use std::fmt::Formatter;

use serde_json::Value;
use serde_json::json;

use crate::report::mebibytes;
use crate::report::micros;
use crate::report::short;

/// What was seen in a minute, and at its end.
#[derive(Clone, Debug)]
pub(super) struct Minute {
    pub(super) requests_per_second: f64,
    pub(super) p50_nanos: u64,
    pub(super) p999_nanos: u64,
    pub(super) max_nanos: u64,
    /// Cores that the server kept busy, if that is known.
    pub(super) cores: Option<f64>,
    /// Cores that the load kept busy: one that waits for what is due does so awake.
    pub(super) load_cores: Option<f64>,
    /// For which part of the time the machine kept the server from running, if that is known.
    pub(super) kept: Option<f64>,
    /// Resident memory, if it is known.
    pub(super) memory_bytes: Option<u64>,
    /// Entries in the stream.
    pub(super) entries: u64,
    /// Entries that are pending.
    pub(super) pending: u64,
}

impl Minute {
    /// Returns how many times the median the latency is that one of a thousand requests has.
    fn tail(&self) -> f64 {
        ratio(self.p999_nanos, self.p50_nanos)
    }

    /// Whether some waited far longer than most.
    fn is_slow(&self) -> bool {
        self.tail() >= TAIL_MAX
    }

    /// Whether the machine kept the server from running for as long as it takes to make one of a thousand wait.
    fn is_disturbed(&self) -> bool {
        self.kept.is_some_and(|part| part >= KEPT_MAX)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "requests_per_second": self.requests_per_second,
            "latency_ns": { "p50": self.p50_nanos, "p999": self.p999_nanos, "max": self.max_nanos },
            "cores": self.cores,
            "load_cores": self.load_cores,
            "kept_from_running": self.kept,
            "memory_bytes": self.memory_bytes,
            "entries": self.entries,
            "pending": self.pending,
        })
    }
}

impl Display for Minute {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let unknown = || "-".to_owned();
        let memory = self.memory_bytes.map_or_else(unknown, mebibytes);
        let cores = self.cores.map_or_else(unknown, short);
        let kept = self
            .kept
            .map_or_else(unknown, |part| format!("{:.2}", part * 100.0));
        write!(
            f,
            "{} requests/s  p50 {} µs  p99.9 {} µs ({}×)  {cores} cores, kept from running {kept} %  \
             resident {memory} MiB  {} entries, {} pending",
            short(self.requests_per_second),
            micros(self.p50_nanos),
            micros(self.p999_nanos),
            short(self.tail()),
            self.entries,
            self.pending,
        )
    }
}

/// Whether a server can go on like that.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    minutes: usize,
    /// Minutes in which some waited far longer than most.
    slow_minutes: usize,
    /// Those of them in which the machine kept the server from running for long enough to make them so.
    disturbed_minutes: usize,
    /// The worst of all minutes.
    worst_tail: f64,
    /// Memory at the end, as a part of what it was once all data was there. Nothing if it is not known.
    memory_growth: Option<f64>,
    is_memory_steady: bool,
}

impl Verdict {
    /// Judges some minutes by what was `before` them, when all data was there.
    pub(super) fn of(before: &Minute, minutes: &[Minute]) -> Self {
        // What the first minute adds are clients that come and go, and caches that fill.
        let first = minutes.first().and_then(|minute| minute.memory_bytes);
        let settled = before.memory_bytes.max(first);
        let last = minutes.last().and_then(|minute| minute.memory_bytes);
        let memory = settled.zip(last);
        Self {
            minutes: minutes.len(),
            slow_minutes: minutes.iter().filter(|m| m.is_slow()).count(),
            disturbed_minutes: minutes
                .iter()
                .filter(|m| m.is_slow() && m.is_disturbed())
                .count(),
            worst_tail: minutes.iter().map(Minute::tail).fold(0.0, f64::max),
            memory_growth: memory.map(|(settled, last)| ratio(last, settled)),
            is_memory_steady: memory.is_some_and(|(settled, last)| {
                last <= settled + settled / GROWTH_PART + SLACK_BYTES
            }),
        }
    }

    /// Whether neither memory nor anybody's patience was strained.
    fn is_good(&self) -> bool {
        self.is_memory_steady && self.slow_minutes == 0
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "is_good": self.is_good(),
            "slow_minutes": self.slow_minutes,
            "disturbed_minutes": self.disturbed_minutes,
            "worst_p999_by_p50": self.worst_tail,
            "memory_growth": self.memory_growth,
            "is_memory_steady": self.is_memory_steady,
        })
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let growth = self
            .memory_growth
            .map_or_else(|| "-".to_owned(), |growth| format!("{growth:.3}"));
        writeln!(
            f,
            "memory: {growth} of what it was once all data was there: {}",
            yes_no(self.is_memory_steady)
        )?;
        writeln!(
            f,
            "latency: p99.9 below {TAIL_MAX}× p50 in {} of {} minutes, {}× at worst: {}",
            self.minutes - self.slow_minutes,
            self.minutes,
            short(self.worst_tail),
            yes_no(self.slow_minutes == 0)
        )?;
        if self.disturbed_minutes > 0 {
            writeln!(
                f,
                "in {} of the others the machine kept the server from running for a thousandth of the time and more, \
                 which is enough for that",
                self.disturbed_minutes
            )?;
        }
        write!(f, "verdict: {}", yes_no(self.is_good()))
    }
}

fn yes_no(is_good: bool) -> &'static str {
    if is_good { "good" } else { "not good" }
}

fn ratio(a: u64, b: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let (a, b) = (a as f64, b.max(1) as f64);
    a / b
}

/// One of a thousand requests may take so many times the median.
const TAIL_MAX: f64 = 10.0;

/// Who was kept from running for this part of the time made one of a thousand wait for as long as that took.
const KEPT_MAX: f64 = 0.001;

/// Memory may grow by one part in so many.
const GROWTH_PART: u64 = 20;

/// Memory that allocators and the system move back and forth.
const SLACK_BYTES: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(p999_nanos: u64, mebibytes: u64) -> Minute {
        Minute {
            requests_per_second: 100_000.0,
            p50_nanos: 100_000,
            p999_nanos,
            max_nanos: 5_000_000,
            cores: Some(0.8),
            load_cores: None,
            kept: Some(0.000_4),
            memory_bytes: Some(mebibytes << 20),
            entries: 100_000,
            pending: 40,
        }
    }

    #[test]
    fn steady_minutes_are_good() {
        let verdict = Verdict::of(
            &minute(0, 100),
            &[minute(999_000, 103), minute(900_000, 110)],
        );

        assert!(verdict.is_good(), "{verdict:?}");
        let text = verdict.to_string();
        assert!(
            text.contains("in 2 of 2 minutes, 9.99× at worst: good"),
            "{text}"
        );
        assert!(text.ends_with("verdict: good"), "{text}");
    }

    #[test]
    fn memory_that_grows_is_not() {
        let verdict = Verdict::of(&minute(0, 100), &[minute(1, 100), minute(1, 108)]);

        assert!(!verdict.is_memory_steady && !verdict.is_good());
        assert_eq!(verdict.memory_growth, Some(1.08));
        assert!(Verdict::of(&minute(0, 100), &[minute(1, 100), minute(1, 107)]).is_good());
    }

    #[test]
    fn a_minute_in_which_some_wait_is_not() {
        let verdict = Verdict::of(&minute(0, 100), &[minute(1_000_000, 100), minute(1, 100)]);

        assert_eq!(verdict.slow_minutes, 1);
        assert!(!verdict.is_good());
        assert!(verdict.to_string().contains("in 1 of 2 minutes, 10.0×"));
        assert!(!verdict.to_string().contains("kept"));
    }

    #[test]
    fn a_slow_minute_of_a_machine_that_had_other_work_is_told_apart() {
        let disturbed = |p999_nanos| Minute {
            kept: Some(0.001),
            ..minute(p999_nanos, 100)
        };
        let minutes = [minute(1_000_000, 100), disturbed(1_000_000), disturbed(1)];
        let verdict = Verdict::of(&minute(0, 100), &minutes);

        assert_eq!((verdict.slow_minutes, verdict.disturbed_minutes), (2, 1));
        assert!(!verdict.is_good());
        let text = verdict.to_string();
        assert!(
            text.contains("in 1 of the others the machine kept"),
            "{text}"
        );
    }

    #[test]
    fn a_minute_is_a_line() {
        assert_eq!(
            minute(500_000, 40).to_string(),
            "100 k requests/s  p50 100 µs  p99.9 500 µs (5.00×)  0.80 cores, kept from running 0.04 %  resident 40.0 MiB  100000 entries, 40 pending"
        );
    }
}
