//! Intervals of IDs, as the commands on ranges of a stream take them.

use tailrace_storage::StreamId;

use crate::error::CommandError;
use crate::error::StreamError;

/// Reads the bounds of an interval: each an ID, `-` or `+`, or `(` and an ID that is left out. What
/// is missing in an ID is completed first and left out then, so `(1` leaves out 1-0 alone.
pub(super) fn bounds(start: &[u8], end: &[u8]) -> Result<(StreamId, StreamId), CommandError> {
    let from = self::start(start)?;
    let (id, exclusive) = bound(end, u64::MAX)?;
    let to = match exclusive {
        true => id.prev().ok_or(StreamError::IntervalEnd)?,
        false => id,
    };
    Ok((from, to))
}

/// Reads the lower bound of an interval, as [`bounds`] does.
pub(super) fn start(start: &[u8]) -> Result<StreamId, CommandError> {
    let (id, exclusive) = bound(start, 0)?;
    match exclusive {
        true => id.next().ok_or_else(|| StreamError::IntervalStart.into()),
        false => Ok(id),
    }
}

/// One bound of an interval, and whether it is left out.
fn bound(text: &[u8], seq_default: u64) -> Result<(StreamId, bool), CommandError> {
    let parsed = match text.split_first() {
        Some((b'(', id)) if !id.is_empty() => StreamId::parse(id, seq_default).map(|id| (id, true)),
        _ => StreamId::parse_bound(text, seq_default).map(|id| (id, false)),
    };
    parsed.map_err(|_| CommandError::InvalidId)
}
