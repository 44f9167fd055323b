//! The options of `XADD` and `XTRIM`: `[NOMKSTREAM] [MAXLEN|MINID [=|~] threshold [LIMIT count]]`.

use tailrace_protocol::number::parse_i64;
use tailrace_storage::StreamId;
use tailrace_storage::Trim;
use tailrace_storage::TrimLimit;

use crate::args::Args;
use crate::error::CommandError;
use crate::error::StreamError;

/// What was read of the options so far. They come in any order; only `NOMKSTREAM` may repeat.
#[derive(Debug, Default)]
pub(super) struct TrimArgs {
    limit: Option<TrimLimit>,
    approximate: bool,
    entries_max: Option<u64>,
}

impl TrimArgs {
    /// Takes one option and its value, if one stands next.
    pub(super) fn take(&mut self, args: &mut Args<'_>) -> Result<bool, CommandError> {
        if args.keyword_with("maxlen", 1) {
            let threshold = self.threshold(args)?;
            let len = parse_i64(threshold).ok_or(CommandError::NotAnInteger)?;
            let len = u64::try_from(len).map_err(|_| StreamError::MaxLenNegative)?;
            self.limit = Some(TrimLimit::MaxLen(len));
        } else if args.keyword_with("minid", 1) {
            let threshold = self.threshold(args)?;
            let min = StreamId::parse(threshold, 0).map_err(|_| CommandError::InvalidId)?;
            self.limit = Some(TrimLimit::MinId(min));
        } else if args.keyword_with("limit", 1) {
            let limit = args.integer()?;
            let limit = u64::try_from(limit).map_err(|_| StreamError::LimitNegative)?;
            self.entries_max = Some(limit);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What to trim, if anything. `node_entries_max` is the configured size of a node: an
    /// approximate trim without a limit takes 100 nodes at most, so that it ends soon.
    pub(super) fn finish(self, node_entries_max: usize) -> Result<Option<Trim>, CommandError> {
        if self.limit.is_none() && self.entries_max.is_some_and(|max| max > 0) {
            return Err(StreamError::LimitWithoutStrategy.into());
        }
        if self.entries_max.is_some() && !self.approximate {
            return Err(StreamError::LimitWithoutApproximation.into());
        }
        let Some(limit) = self.limit else {
            return Ok(None);
        };
        let default = match node_entries_max as u64 {
            0 => LIMIT_DEFAULT,
            entries => entries.saturating_mul(100).min(LIMIT_DEFAULT_MAX),
        };
        let entries_max = match self.approximate {
            true => self.entries_max.unwrap_or(default),
            false => 0,
        };
        Ok(Some(Trim {
            limit,
            approximate: self.approximate,
            entries_max,
        }))
    }

    /// As [`Self::finish`], where there must be something to trim.
    pub(super) fn finish_required(self, node_entries_max: usize) -> Result<Trim, CommandError> {
        // Of a limit of zero alone, the reference says that the strategy is missing.
        let limited = self.entries_max.is_some_and(|max| max > 0);
        if self.limit.is_none() && !limited {
            return Err(StreamError::StrategyMissing.into());
        }
        let trim = self.finish(node_entries_max)?;
        trim.ok_or_else(|| StreamError::StrategyMissing.into())
    }

    fn threshold<'a>(&mut self, args: &mut Args<'a>) -> Result<&'a [u8], CommandError> {
        if self.limit.is_some() {
            return Err(StreamError::TwoStrategies.into());
        }
        self.approximate = args.keyword_with("~", 1);
        if !self.approximate {
            args.keyword_with("=", 1);
        }
        args.bytes()
    }
}

/// Where nodes have no size in entries.
const LIMIT_DEFAULT: u64 = 10_000;
/// However large nodes are.
const LIMIT_DEFAULT_MAX: u64 = 1_000_000;
