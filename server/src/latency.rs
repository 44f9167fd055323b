//! Events that took long, as `LATENCY` shows them: what happened at least
//! `latency-monitor-threshold` milliseconds long.

use std::collections::BTreeMap;

use tailrace_storage::Now;
use tailrace_storage::UnixMicros;

use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// The events that were seen.
#[derive(Debug, Default)]
pub struct LatencyEvents {
    series: BTreeMap<&'static str, Series>,
    /// What is seen, in microseconds; 0 if nothing is.
    threshold_micros: u64,
}

/// The samples of one event: the worst one of each second in which there were any.
#[derive(Debug)]
pub struct Series {
    /// Oldest first.
    samples: Vec<Sample>,
    /// The longest of all, in milliseconds.
    pub max: u32,
    /// All together, in milliseconds.
    pub sum: u32,
    /// How many there were.
    pub count: u32,
}

/// How long an event took.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sample {
    /// When, in seconds of Unix time.
    pub at: u64,
    /// How long, in milliseconds.
    pub millis: u32,
}

impl LatencyEvents {
    /// Whether anything is seen at all.
    pub(crate) fn is_on(&self) -> bool {
        self.threshold_micros > 0
    }

    pub(crate) fn set_threshold(&mut self, millis: u64) {
        self.threshold_micros = millis.saturating_mul(1_000);
    }

    /// Something happened; keeps it if it took long.
    pub(crate) fn on_event(&mut self, event: &'static str, micros: u64, at: UnixMicros) {
        if self.is_on() && micros >= self.threshold_micros {
            let series = self.series.entry(event).or_insert_with(Series::new);
            series.add(micros, at.to_seconds());
        }
    }

    /// The samples of the event of this name.
    pub fn find(&self, event: &[u8]) -> Option<(&'static str, &Series)> {
        let event = str::from_utf8(event).ok()?;
        let (name, series) = self.series.get_key_value(event)?;
        Some((name, series))
    }

    /// All events, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &Series)> {
        self.series.iter().map(|(name, series)| (*name, series))
    }

    /// Forgets those events whose names this holds for, and says how many there were.
    pub(crate) fn forget(&mut self, is_named: impl Fn(&str) -> bool) -> usize {
        let before = self.series.len();
        self.series.retain(|name, _| !is_named(name));
        before - self.series.len()
    }
}

impl Series {
    const fn new() -> Self {
        Self {
            samples: Vec::new(),
            max: 0,
            sum: 0,
            count: 0,
        }
    }

    fn add(&mut self, micros: u64, at: u64) {
        let millis = u32::try_from(micros / 1_000).unwrap_or(u32::MAX);
        self.max = self.max.max(millis);
        self.sum = self.sum.wrapping_add(millis);
        self.count = self.count.wrapping_add(1);
        match self.samples.last_mut() {
            Some(last) if last.at == at => last.millis = last.millis.max(millis),
            _ => {
                if self.samples.len() == SAMPLES_MAX {
                    self.samples.remove(0);
                }
                self.samples.push(Sample { at, millis });
            }
        }
    }

    /// The samples that are kept, oldest first; there is one at least.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The latest sample.
    pub fn latest(&self) -> Sample {
        *self.samples.last().expect("a series begins with a sample")
    }
}

impl State {
    /// A command took so long.
    pub(crate) fn on_command_took(&mut self, spec: &'static Spec, micros: u64, at: UnixMicros) {
        if self.latency.is_on() {
            let is_fast = spec.flags.has(Flags::FAST);
            let event = if is_fast { "fast-command" } else { "command" };
            self.latency.on_event(event, micros, at);
        }
    }

    /// Removes some of the keys that are due.
    pub(crate) fn expire_slice(&mut self, now: Now) {
        if self.store.next_expiry().is_none_or(|due| due > now.unix()) {
            return;
        }
        let from = self.clock.mono();
        let removed = match self.latency.is_on() {
            true => self.expire_measured(now),
            false => self.store.expire_due(EXPIRE_SLICE),
        };
        let micros = self.micros_since(from);
        self.stats.expire_micros += micros;
        self.stats.full_expire_slices += u64::from(removed == EXPIRE_SLICE);
        self.latency.on_event("expire-cycle", micros, now.wall);
    }
}

impl State {
    /// Removes some of the keys that are due, and looks how long each takes.
    fn expire_measured(&mut self, now: Now) -> usize {
        for removed in 0..EXPIRE_SLICE {
            let from = self.clock.mono();
            if self.store.expire_due(1) == 0 {
                return removed;
            }
            let micros = self.micros_since(from);
            self.latency.on_event("expire-del", micros, now.wall);
        }
        EXPIRE_SLICE
    }
}

/// How many samples of an event are kept, as in the reference.
const SAMPLES_MAX: usize = 160;
/// Keys removed at a time when many expire together; the rest read as missing meanwhile.
const EXPIRE_SLICE: usize = 1_000;

#[cfg(test)]
mod tests {
    use tailrace_storage::UnixMicros;

    use super::LatencyEvents;
    use super::SAMPLES_MAX;
    use super::Sample;

    fn events(happened: &[(u64, u64)]) -> LatencyEvents {
        let mut events = LatencyEvents::default();
        events.set_threshold(5);
        for (at, millis) in happened {
            events.on_event("command", millis * 1_000, UnixMicros(at * 1_000_000));
        }
        events
    }

    #[test]
    fn a_second_has_one_sample_its_worst() {
        let events = events(&[(1, 4), (1, 7), (1, 9), (1, 8), (3, 5)]);
        let (_, series) = events.find(b"command").unwrap();
        let shown: Vec<(u64, u32)> = series.samples().iter().map(|s| (s.at, s.millis)).collect();
        assert_eq!(shown, [(1, 9), (3, 5)]);
        assert_eq!((series.max, series.sum, series.count), (9, 29, 4));
    }

    #[test]
    fn the_oldest_samples_go() {
        let happened: Vec<(u64, u64)> = (0..200).map(|at| (at, 5)).collect();
        let events = events(&happened);
        let (_, series) = events.find(b"command").unwrap();
        assert_eq!(series.samples().len(), SAMPLES_MAX);
        assert_eq!(series.samples()[0], Sample { at: 40, millis: 5 });
    }

    #[test]
    fn nothing_is_seen_without_a_threshold() {
        let mut events = events(&[(1, 4)]);
        events.set_threshold(0);
        events.on_event("command", 1_000_000, UnixMicros(1));
        assert_eq!(events.iter().len(), 0);
    }
}
