//! `XCLAIM key group consumer min-idle id [id ...] [IDLE ms] [TIME unix-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]`
//!
//! Hands pending entries to a consumer and replies with them, or with their IDs alone.
//!
//! Behaviour worth knowing:
//! - The first argument that is not an ID begins the options; there may be no ID at all.
//! - An ID is in the reply as often as it was asked for.
//! - What has left the stream leaves the pending list, however idle, and is not in the reply.
//! - The consumer is created even if nothing is claimed.
//! - Claiming counts as a delivery unless `JUSTID` or `RETRYCOUNT` is given.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::Claim;
use tailrace_storage::ClaimShown;
use tailrace_storage::ClaimTime;
use tailrace_storage::StreamId;

use super::encode;
use super::group_args;
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
    name: "xclaim",
    arity: -6,
    syntax: "key group consumer min-idle-time id... [IDLE ms:integer] \
             [TIME unix-time-milliseconds:unix-time] [RETRYCOUNT count:integer] [FORCE] \
             [JUSTID] [LASTID lastid]",
    flags: Flags::WRITE.and(Flags::FAST).and(Flags::SERVES_CONSUMER),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "update"])],
    tips: &["nondeterministic_output"],
    group: Group::Stream,
    summary: "Hands pending entries of a group to another consumer.",
    since: "5.0.0",
    complexity: "O(log N) for each ID, N being the number of pending entries.",
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
    let db = call.db;
    group_args::require(call.store(), db, key, group)?;
    let idle_min = group_args::idle_min(&mut args, "XCLAIM")?;
    let ids = leading_ids(&mut args);
    let claim = Claim {
        ids: &ids,
        idle_min,
        ..options(args)?
    };

    let (claimed, stream) = call
        .store()
        .claim(db, key, group, consumer, &claim)
        .map_err(|error| group_args::refused(error, key, group))?;

    match claim.shown {
        ClaimShown::Entry => encode::entries(reply, stream, &claimed.ids),
        ClaimShown::JustId => encode::claimed_ids(reply, &claimed.ids),
    }
    Ok(Flow::Done)
}

/// Takes IDs as long as there are some.
fn leading_ids(args: &mut Args<'_>) -> Vec<StreamId> {
    let mut ids = Vec::with_capacity(args.len());
    while let Some(id) = args.peek().and_then(|text| StreamId::parse(text, 0).ok()) {
        ids.push(id);
        args.next();
    }
    ids
}

fn options(mut args: Args<'_>) -> Result<Claim<'static>, CommandError> {
    let mut claim = Claim::default();
    while let Some(option) = args.peek() {
        if args.keyword("force") {
            claim.force = true;
        } else if args.keyword("justid") {
            claim.shown = ClaimShown::JustId;
        } else if args.keyword_with("idle", 1) {
            claim.time = ClaimTime::Idle(value(&mut args, "IDLE")?);
        } else if args.keyword_with("time", 1) {
            claim.time = ClaimTime::At(value(&mut args, "TIME")?);
        } else if args.keyword_with("retrycount", 1) {
            // A negative count is as good as none.
            claim.deliveries = u64::try_from(value(&mut args, "RETRYCOUNT")?).ok();
        } else if args.keyword_with("lastid", 1) {
            claim.last_id = args.id()?;
        } else {
            return Err(StreamError::UnknownClaimOption(option.to_vec()).into());
        }
    }
    Ok(claim)
}

fn value(args: &mut Args<'_>, option: &'static str) -> Result<i64, CommandError> {
    parse_i64(args.bytes()?).ok_or_else(|| StreamError::ClaimOption(option).into())
}
