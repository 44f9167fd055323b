//! The arguments that `XREAD` and `XREADGROUP` share, in whatever order they come.

use tailrace_protocol::Request;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::Compat;
use tailrace_storage::Instant;

use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::error::CommandError;
use crate::error::StreamError;

/// The arguments of a read. Names and IDs are looked at later, stream by stream.
pub(super) struct ReadArgs<'a> {
    /// The keys.
    pub(super) keys: Request<'a>,
    /// What to read of each.
    pub(super) ids: Request<'a>,
    /// Entries per stream.
    pub(super) count_max: u64,
    /// Whether to wait, and until when.
    pub(super) block: Option<Block>,
    /// Whether what is delivered is done with.
    pub(super) no_ack: bool,
    /// Group and consumer.
    pub(super) group: Option<(&'a [u8], &'a [u8])>,
}

/// Until when to wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Block {
    /// As long as it takes.
    Forever,
    /// Until then.
    Until(Instant),
}

impl<'a> ReadArgs<'a> {
    /// Reads all arguments; of the options that are wrong, the first is reported.
    pub(super) fn parse(call: &Call<'_>, mut args: Args<'a>) -> Result<Self, CommandError> {
        let for_group = call.spec.name == "xreadgroup";
        let mut read = Self {
            keys: args.request().skip(args.request().len()),
            ids: args.request().skip(args.request().len()),
            count_max: u64::MAX,
            block: None,
            no_ack: false,
            group: None,
        };
        loop {
            if args.keyword_with("block", 1) {
                read.block = Some(Block::parse(args.bytes()?, call)?);
            } else if args.keyword_with("count", 1) {
                // Zero and less mean no limit.
                let count = u64::try_from(args.integer()?).unwrap_or(0);
                read.count_max = if count == 0 { u64::MAX } else { count };
            } else if args.keyword_with("streams", 1) {
                break;
            } else if args.keyword_with("group", 2) {
                if !for_group {
                    return Err(StreamError::GroupInXread.into());
                }
                read.group = Some((args.bytes()?, args.bytes()?));
            } else if args.keyword("noack") {
                if !for_group {
                    return Err(StreamError::NoAckInXread.into());
                }
                read.no_ack = true;
            } else {
                return Err(CommandError::Syntax);
            }
        }
        if !args.len().is_multiple_of(2) {
            return Err(unbalanced(call, for_group).into());
        }
        let streams = args.len() / 2;
        read.keys = args.rest().first(streams);
        read.ids = args.rest().skip(streams);
        Ok(read)
    }
}

fn unbalanced(call: &Call<'_>, for_group: bool) -> StreamError {
    let wanted = match (for_group, call.state.store.settings().compat) {
        (true, _) => "ID or '>'",
        (false, Compat::Valkey) => "ID or '$'",
        (false, Compat::Redis) => "ID, '+', or '$'",
    };
    StreamError::Unbalanced {
        command: call.spec.name,
        wanted,
    }
}

impl Block {
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
        let micros = ms.unsigned_abs().saturating_mul(1_000);
        let until = call.now.mono.0.saturating_add(micros);
        Ok(Self::Until(Instant(until)))
    }

    /// When to give up.
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Forever => None,
            Self::Until(deadline) => Some(deadline),
        }
    }
}

/// The positions of the keys: the first half of what follows `STREAMS`. That word may stand for a
/// group or a consumer too, so the options are walked through.
pub(super) fn find_keys(request: Request<'_>) -> Option<Vec<usize>> {
    let mut at = 1;
    while let Some(word) = request.get(at) {
        let is = |name: &str| is_word(word, name);
        at += if is("block") || is("count") {
            2
        } else if is("group") {
            3
        } else if is("noack") {
            1
        } else if is("streams") {
            let streams = request.len() - at - 1;
            let valid = streams > 0 && streams.is_multiple_of(2);
            return valid.then(|| (at + 1..=at + streams / 2).collect());
        } else {
            return None;
        };
    }
    None
}
