//! The arguments that `XREAD` and `XREADGROUP` share, in whatever order they come.

use tailrace_protocol::Request;
use tailrace_storage::Compat;

use super::timeout_args::Timeout;
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
    pub(super) timeout: Option<Timeout>,
    /// Whether what is delivered is done with.
    pub(super) no_ack: bool,
    /// Group and consumer.
    pub(super) group: Option<(&'a [u8], &'a [u8])>,
}

/// Who reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reader {
    /// A client for itself: `XREAD`.
    Client,
    /// A consumer of a group: `XREADGROUP`.
    Group,
}

impl<'a> ReadArgs<'a> {
    /// Reads all arguments; of the options that are wrong, the first is reported.
    pub(super) fn parse(
        call: &Call<'_>,
        mut args: Args<'a>,
        reader: Reader,
    ) -> Result<Self, CommandError> {
        let for_group = reader == Reader::Group;
        let mut read = Self {
            keys: args.request().skip(args.request().len()),
            ids: args.request().skip(args.request().len()),
            count_max: u64::MAX,
            timeout: None,
            no_ack: false,
            group: None,
        };
        loop {
            if args.keyword_with("block", 1) {
                read.timeout = Some(Timeout::parse(args.bytes()?, call)?);
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
            return Err(unbalanced(call, reader).into());
        }
        let streams = args.len() / 2;
        read.keys = args.rest().first(streams);
        read.ids = args.rest().skip(streams);
        Ok(read)
    }
}

fn unbalanced(call: &Call<'_>, reader: Reader) -> StreamError {
    let wanted = match (reader, call.state.store.settings().compat) {
        (Reader::Group, _) => "ID or '>'",
        (Reader::Client, Compat::Valkey) => "ID or '$'",
        (Reader::Client, Compat::Redis) => "ID, '+', or '$'",
    };
    StreamError::Unbalanced {
        command: call.spec.name,
        wanted,
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
