//! `client-output-buffer-limit`: how many bytes of replies may wait for a client.

use std::fmt;

use tailrace_storage::Instant;

use super::numbers::parse_lenient;
use super::numbers::parse_memory;

/// The limits of every class of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    /// Ordinary clients.
    pub normal: OutputLimit,
    /// Replicas and clients in MONITOR mode.
    pub replica: OutputLimit,
    /// Clients subscribed to at least one channel.
    pub pubsub: OutputLimit,
}

/// When a client is closed because it does not read its replies; zero bytes mean no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimit {
    /// A client above this is closed at once.
    pub hard_bytes: u64,
    /// A client that stays above this for `soft_s` is closed.
    pub soft_bytes: u64,
    /// How long the soft limit may be exceeded, in seconds.
    pub soft_s: u64,
}

impl OutputLimits {
    /// Replaces the limits of the classes that `words` names: class, hard, soft, seconds, repeated.
    pub(super) fn with(mut self, words: &[&[u8]]) -> Result<Self, &'static str> {
        let groups = words.chunks_exact(4);
        if !groups.remainder().is_empty() {
            return Err("Wrong number of arguments in buffer limit configuration.");
        }
        for group in groups {
            let class = match group[0].to_ascii_lowercase().as_slice() {
                b"normal" => &mut self.normal,
                b"replica" | b"slave" => &mut self.replica,
                b"pubsub" => &mut self.pubsub,
                _ => return Err("Invalid client class specified in buffer limit configuration."),
            };
            *class = OutputLimit::parse(group[1], group[2], group[3]).ok_or(
                "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
            )?;
        }
        Ok(self)
    }
}

impl OutputLimit {
    /// Whether a client for which so many bytes wait is to be closed now.
    ///
    /// `soft_since` is kept here: since when the soft limit has been exceeded.
    pub fn is_exceeded(
        self,
        waiting_bytes: usize,
        soft_since: &mut Option<Instant>,
        now: Instant,
    ) -> bool {
        let reaches = |limit: u64| limit > 0 && waiting_bytes as u64 >= limit;
        if !reaches(self.soft_bytes) {
            *soft_since = None;
            return reaches(self.hard_bytes);
        }
        let since = *soft_since.get_or_insert(now);
        let exceeded_s = now.since(since).to_seconds();
        reaches(self.hard_bytes) || exceeded_s > self.soft_s
    }

    fn parse(hard: &[u8], soft: &[u8], seconds: &[u8]) -> Option<Self> {
        Some(Self {
            hard_bytes: parse_memory(hard)?,
            soft_bytes: parse_memory(soft)?,
            soft_s: u64::try_from(parse_lenient(seconds, 10)?).ok()?,
        })
    }
}

impl Default for OutputLimits {
    fn default() -> Self {
        let mib = 1_024 * 1_024;
        Self {
            normal: OutputLimit::default(),
            replica: OutputLimit {
                hard_bytes: 256 * mib,
                soft_bytes: 64 * mib,
                soft_s: 60,
            },
            pubsub: OutputLimit {
                hard_bytes: 32 * mib,
                soft_bytes: 8 * mib,
                soft_s: 60,
            },
        }
    }
}

/// The text of CONFIG GET, which still says `slave`.
impl fmt::Display for OutputLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            normal,
            replica,
            pubsub,
        } = self;
        write!(f, "normal {normal} slave {replica} pubsub {pubsub}")
    }
}

impl fmt::Display for OutputLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.hard_bytes, self.soft_bytes, self.soft_s)
    }
}

#[cfg(test)]
mod tests {
    use tailrace_storage::Instant;

    use super::OutputLimit;

    const LIMIT: OutputLimit = OutputLimit {
        hard_bytes: 1_000,
        soft_bytes: 100,
        soft_s: 2,
    };

    #[test]
    fn the_hard_limit_counts_at_once() {
        let mut since = None;
        assert!(!LIMIT.is_exceeded(999, &mut since, Instant(0)));
        assert!(LIMIT.is_exceeded(1_000, &mut since, Instant(0)));
        let none = OutputLimit::default();
        assert!(!none.is_exceeded(usize::MAX, &mut since, Instant(0)));
    }

    #[test]
    fn the_soft_limit_counts_when_it_is_exceeded_for_long() {
        let mut since = None;
        assert!(!LIMIT.is_exceeded(100, &mut since, Instant(5)));
        assert!(!LIMIT.is_exceeded(100, &mut since, Instant(2_999_999)));
        assert!(LIMIT.is_exceeded(100, &mut since, Instant(3_000_005)));
    }

    #[test]
    fn below_the_soft_limit_time_starts_again() {
        let mut since = None;
        assert!(!LIMIT.is_exceeded(100, &mut since, Instant(0)));
        assert!(!LIMIT.is_exceeded(99, &mut since, Instant(9_000_000)));
        assert!(!LIMIT.is_exceeded(100, &mut since, Instant(9_000_000)));
    }
}
