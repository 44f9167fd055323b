//! `XPENDING key group [[IDLE min-idle] start end count [consumer]]`
//!
//! Replies with a summary of what a group has pending, or with a list of it.
//!
//! Behaviour worth knowing:
//! - The counts of the summary are bulk strings, and consumers without pending entries are left out.
//! - `IDLE` is looked at before the count.
//! - Two arguments too many behind a consumer are overlooked, with `IDLE` none.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Millis;
use tailrace_storage::StreamId;
use tailrace_storage::UnixMillis;

use super::encode;
use super::group_args;
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
    name: "xpending",
    arity: -3,
    syntax: "key group [filters([IDLE min-idle-time:integer@6.2.0] start end count:integer \
             [consumer])]",
    flags: Flags::READONLY,
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RO", "access"])],
    tips: &["nondeterministic_output"],
    group: Group::Stream,
    summary: "Returns what a group has delivered that was not acknowledged yet.",
    since: "5.0.0",
    history: &[(
        "6.2.0",
        "Takes `IDLE`, and intervals that exclude their ends.",
    )],
    complexity: "O(N), N being the number of consumers, or of the pending entries looked at.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let name = args.bytes()?;
    let list = match args.is_empty() {
        true => None,
        false => Some(List::parse(args)?),
    };

    let (db, now) = (call.db, call.now.unix());
    let (_, group) = group_args::require(call.store(), db, key, name)?;

    match list {
        None => summarise(group, reply),
        Some(list) => list.reply(group, now, reply),
    }
    Ok(Flow::Done)
}

fn summarise(group: &tailrace_storage::Group, reply: &mut ReplyWriter<'_>) {
    reply.array(4);
    let Some(summary) = group.pending_summary() else {
        reply.integer(0);
        reply.null();
        reply.null();
        reply.null_array();
        return;
    };
    reply.unsigned(summary.count as u64);
    encode::id(reply, summary.first);
    encode::id(reply, summary.last);
    let mark = reply.mark();
    let mut consumers = 0;
    for (name, count) in group.pending_by_consumer() {
        consumers += 1;
        reply.array(2);
        reply.bulk(name);
        reply.bulk_integer(count.cast_signed());
    }
    reply.insert_array(mark, consumers);
}

/// Which pending entries to list.
struct List<'a> {
    from: StreamId,
    to: StreamId,
    count_max: usize,
    idle_min: Millis,
    consumer: Option<&'a [u8]>,
}

impl<'a> List<'a> {
    fn parse(mut args: Args<'a>) -> Result<Self, CommandError> {
        if !(3..=6).contains(&args.len()) {
            return Err(CommandError::Syntax);
        }
        let mut idle_min = 0;
        if args.keyword("idle") {
            idle_min = args.integer()?;
            if args.len() < 3 {
                return Err(CommandError::Syntax);
            }
        }
        let (start, end) = (args.bytes()?, args.bytes()?);
        let count = args.integer()?;
        let (from, to) = interval_args::bounds(start, end)?;
        Ok(Self {
            from,
            to,
            count_max: usize::try_from(count).unwrap_or(0),
            idle_min: Millis(u64::try_from(idle_min).unwrap_or(0)),
            consumer: args.next(),
        })
    }

    fn reply(&self, group: &tailrace_storage::Group, now: UnixMillis, reply: &mut ReplyWriter<'_>) {
        let consumer = self.consumer.map(|name| group.find_consumer(name));
        if consumer == Some(None) {
            reply.array(0);
            return;
        }
        let mark = reply.mark();
        let mut count = 0;
        let pending =
            group.pending_range(self.from, self.to, consumer.flatten(), self.idle_min, now);
        for entry in pending.take(self.count_max) {
            count += 1;
            reply.array(4);
            encode::id(reply, entry.id);
            reply.bulk(group.consumer(entry.consumer).name());
            reply.unsigned(entry.idle(now).0);
            // A count beyond the largest integer of the protocol comes round, as that of the reference does.
            reply.integer(entry.deliveries.cast_signed());
        }
        reply.insert_array(mark, count);
    }
}
