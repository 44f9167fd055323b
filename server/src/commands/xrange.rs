//! `XRANGE key start end [COUNT count]`
//!
//! Replies with the entries whose IDs lie in an interval, lowest first.
//!
//! Behaviour worth knowing:
//! - `-` and `+` are the least and the greatest ID, and `(` before an ID leaves it out. An ID
//!   without a sequence is completed first, so that `(1` leaves out 1-0 alone.
//! - `COUNT 0` and less is null, not empty; but a missing key is empty whatever the count.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::StreamId;

use super::encode;
use super::interval_args;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xrange",
    arity: -4,
    syntax: "key start end [COUNT count:integer]",
    flags: Flags::READONLY.and(Flags::BY_SIZE),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::Stream,
    summary: "Returns the entries of a stream in an interval of IDs, lowest ID first.",
    since: "5.0.0",
    history: &[("6.2.0", "Takes intervals that exclude their ends.")],
    complexity: "O(N), N being the number of entries returned.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let (from, to) = interval_args::bounds(args.bytes()?, args.bytes()?)?;
    let count_max = count(args)?;
    Interval {
        key,
        from,
        to,
        count_max,
    }
    .reply(call, reply, encode::range)
}

/// Some entries of one stream.
pub(super) struct Interval<'a> {
    pub(super) key: &'a [u8],
    pub(super) from: StreamId,
    pub(super) to: StreamId,
    /// `None` is no limit.
    pub(super) count_max: Option<u64>,
}

impl Interval<'_> {
    /// Writes the entries with `range`, which knows in which direction.
    pub(super) fn reply(
        self,
        call: &mut Call<'_>,
        reply: &mut ReplyWriter<'_>,
        range: WriteRange,
    ) -> Result<Flow, CommandError> {
        let db = call.db;
        let stream = call.store().stream(db, self.key)?;

        match (stream, self.count_max) {
            (None, _) => reply.array(0),
            (Some(_), Some(0)) => reply.null_array(),
            (Some(stream), count_max) => {
                let count_max = count_max.unwrap_or(u64::MAX);
                range(reply, stream, self.from, self.to, count_max);
            }
        }
        Ok(Flow::Done)
    }
}

type WriteRange = fn(&mut ReplyWriter<'_>, &tailrace_storage::Stream, StreamId, StreamId, u64);

/// Reads `COUNT`, of which the last one counts; less than zero is zero.
pub(super) fn count(mut args: Args<'_>) -> Result<Option<u64>, CommandError> {
    let mut count_max = None;
    while !args.is_empty() {
        if !args.keyword_with("count", 1) {
            return Err(CommandError::Syntax);
        }
        count_max = Some(u64::try_from(args.integer()?).unwrap_or(0));
    }
    Ok(count_max)
}
