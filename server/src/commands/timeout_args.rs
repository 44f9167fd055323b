//! Times to wait in milliseconds, as the commands that may wait or hold others take them.

use tailrace_protocol::number::parse_i64;
use tailrace_storage::Instant;
use tailrace_storage::Millis;

use crate::call::Call;
use crate::error::CommandError;

/// Until when to wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timeout {
    /// As long as it takes.
    Forever,
    /// Until then.
    Until(Instant),
}

impl Timeout {
    /// Reads a time to wait in milliseconds; none at all is no limit.
    pub(super) fn parse(text: &[u8], call: &Call<'_>) -> Result<Self, CommandError> {
        let ms = parse_i64(text).ok_or(CommandError::TimeoutNotAnInteger)?;
        if ms < 0 {
            return Err(CommandError::TimeoutNegative);
        }
        let now_ms = i64::try_from(call.now.unix().0).unwrap_or(i64::MAX);
        if ms > i64::MAX - now_ms {
            return Err(CommandError::TimeoutOutOfRange);
        }
        if ms == 0 {
            return Ok(Self::Forever);
        }
        Ok(Self::Until(call.now.mono + Millis(ms.unsigned_abs())))
    }

    /// When to give up.
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Forever => None,
            Self::Until(deadline) => Some(deadline),
        }
    }
}
