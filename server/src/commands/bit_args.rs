//! Arguments of the commands on bits: where one stands, and which part of a string is meant.

use std::ops::RangeInclusive;

use tailrace_protocol::number::parse_i64;

use crate::args::Args;
use crate::call::Call;
use crate::error::CommandError;
use crate::error::KeyspaceError;

/// Reads the position of a bit: one of a string that is no longer than strings may be.
pub(super) fn position(text: &[u8], call: &mut Call<'_>) -> Result<u64, CommandError> {
    let position = parse_i64(text).ok_or(KeyspaceError::BitOffset)?;
    checked(position, call)
}

/// Reads a position, or `#index`: that many numbers of `width` bits from the start.
pub(super) fn field_position(
    text: &[u8],
    width: u32,
    call: &mut Call<'_>,
) -> Result<u64, CommandError> {
    let Some(index) = text.strip_prefix(b"#") else {
        return position(text, call);
    };
    let index = parse_i64(index).ok_or(KeyspaceError::BitOffset)?;
    checked(index.wrapping_mul(width.into()), call)
}

fn checked(position: i64, call: &mut Call<'_>) -> Result<u64, CommandError> {
    let bytes_max = call.store().settings().string_bytes_max as u64;
    let position = u64::try_from(position).ok();
    let position = position.filter(|position| position / 8 < bytes_max);
    position.ok_or_else(|| KeyspaceError::BitOffset.into())
}

/// A part of a string, as `[start [end [BYTE|BIT]]]` says; negative positions count from the end.
#[derive(Default)]
pub(super) struct Part {
    start: Option<i64>,
    /// Without it, the last byte.
    pub(super) end: Option<i64>,
    in_bits: bool,
}

impl Part {
    /// Reads all that is left. What it is counted in is checked before the end is.
    pub(super) fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        if args.is_empty() {
            return Ok(Self::default());
        }
        if args.len() > 3 {
            return Err(CommandError::Syntax);
        }
        let start = Some(args.integer()?);
        let end = args.next();
        let in_bits = if args.is_empty() || args.keyword("byte") {
            false
        } else if args.keyword("bit") {
            true
        } else {
            return Err(CommandError::Syntax);
        };
        let end = end.map(|text| parse_i64(text).ok_or(CommandError::NotAnInteger));
        Ok(Self {
            start,
            end: end.transpose()?,
            in_bits,
        })
    }

    /// Whether it ends before it begins, both counted from the end.
    pub(super) fn is_reversed(&self) -> bool {
        let bounds = self.start.zip(self.end);
        bounds.is_some_and(|(start, end)| start < 0 && end < 0 && start > end)
    }

    /// Which bits of a string of this length are meant; `None` if none are.
    pub(super) fn bits_of(&self, len: usize) -> Option<RangeInclusive<usize>> {
        let unit = if self.in_bits { 1 } else { 8 };
        let count = i64::try_from(len * 8 / unit).unwrap_or(i64::MAX);
        let from_start = |position: i64| {
            if position < 0 {
                count.saturating_add(position).max(0)
            } else {
                position
            }
        };
        let start = from_start(self.start.unwrap_or(0));
        let end = self.end.map_or(count - 1, from_start).min(count - 1);
        if start > end {
            return None;
        }
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        Some(start * unit..=end * unit + unit - 1)
    }
}
