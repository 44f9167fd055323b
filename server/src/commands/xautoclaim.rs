//! `XAUTOCLAIM key group consumer min-idle start [COUNT count] [JUSTID]`
//!
//! Hands pending entries that are idle to a consumer. Replies with where to go on (`0-0` at the
//! end), the entries or their IDs, and the IDs of what was found deleted.
//!
//! Behaviour worth knowing:
//! - Looks at ten times `COUNT` (100) pending entries at most.
//! - What has left the stream leaves the pending list, however idle, and uses up the count.
//! - The consumer is created even if nothing is claimed.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::AutoClaim;
use tailrace_storage::ClaimShown;
use tailrace_storage::StreamId;

use super::encode;
use super::group_args;
use super::interval_args;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::StreamError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xautoclaim",
    arity: -6,
    syntax: "key group consumer min-idle-time start [COUNT count:integer] [JUSTID]",
    flags: Flags::WRITE.and(Flags::FAST).and(Flags::SERVES_CONSUMER),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "delete"])],
    tips: &["nondeterministic_output"],
    group: Group::Stream,
    summary: "Hands whatever pending entries of a group are idle to another consumer.",
    since: "6.2.0",
    history: &[(
        "7.0.0",
        "Tells which deleted entries it took off the pending list.",
    )],
    complexity: "O(1) if COUNT is small.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let group = args.bytes()?;
    let consumer = args.bytes()?;
    let ask = parse(args);
    let db = call.db;
    // A missing key shows as missed even if the arguments are wrong.
    let found = group_args::require(call.store(), db, key, group).map(|_| ());
    let ask = ask?;
    found?;

    let (claimed, stream) = call
        .store()
        .auto_claim(db, key, group, consumer, ask)
        .map_err(|error| group_args::refused(error, key, group))?;

    reply.array(3);
    let next = claimed.next.unwrap_or(StreamId::MIN);
    reply.late_id(next.ms, next.seq);
    match ask.shown {
        ClaimShown::Entry => encode::entries(reply, stream, &claimed.claimed),
        ClaimShown::JustId => encode::claimed_ids(reply, &claimed.claimed),
    }
    reply.array(claimed.deleted.len());
    for &id in &claimed.deleted {
        encode::id(reply, id);
    }
    Ok(Flow::Done)
}

fn parse(mut args: Args<'_>) -> Result<AutoClaim, CommandError> {
    let idle_min = group_args::idle_min(&mut args, "XAUTOCLAIM")?;
    let mut ask = AutoClaim {
        start: interval_args::start(args.bytes()?)?,
        idle_min,
        count_max: COUNT_DEFAULT,
        shown: ClaimShown::Entry,
    };
    while !args.is_empty() {
        if args.keyword_with("count", 1) {
            let count = args.integer_or(StreamError::CountNotPositive.into())?;
            ask.count_max = u64::try_from(count)
                .ok()
                .filter(|count| (1..=COUNT_MAX).contains(count))
                .ok_or(StreamError::CountNotPositive)?;
        } else if args.keyword("justid") {
            ask.shown = ClaimShown::JustId;
        } else {
            return Err(CommandError::Syntax);
        }
    }
    Ok(ask)
}

/// How many entries are claimed if the client does not say.
const COUNT_DEFAULT: u64 = 100;
/// What the reference takes at most: the IDs must fit into its memory.
const COUNT_MAX: u64 = i64::MAX.unsigned_abs() / 16;
