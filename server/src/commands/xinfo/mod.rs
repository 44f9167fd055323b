//! `XINFO STREAM|GROUPS|CONSUMERS|HELP`
//!
//! Tells what is known of a stream, its groups and their consumers.

mod consumers;
mod groups;
mod stream;

use std::collections::HashSet;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;
use tailrace_storage::Presence;
use tailrace_storage::Stream;
use tailrace_storage::WaitList;

use super::encode;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Stream,
    summary: "Tells what is known of a stream and its groups.",
    since: "5.0.0",
    ..Spec::container(
        "xinfo",
        &[&consumers::SPEC, &groups::SPEC, &HELP, &stream::SPEC],
    )
};

const HELP: Spec = Spec {
    name: "xinfo|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    acl: Acl::STREAM,
    group: Group::Stream,
    summary: "Says what the subcommands do.",
    since: "5.0.0",
    ..Spec::of(run_help)
};

fn run_help(
    _: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "XINFO",
        &[
            ("CONSUMERS <key> <group>", "List the consumers of a group."),
            ("GROUPS <key>", "List the groups of a stream."),
            (
                "STREAM <key> [FULL [COUNT <count>]]",
                "Describe a stream; FULL also lists its entries, groups and pending entries.",
            ),
        ],
    );
    Ok(Flow::Done)
}

/// How far a group has read and how much is left, where that is known.
fn progress(
    reply: &mut ReplyWriter<'_>,
    stream: &Stream,
    group: &tailrace_storage::Group,
    compat: Compat,
) {
    reply.bulk(b"entries-read");
    known(reply, group.entries_read());
    reply.bulk(b"lag");
    known(reply, stream.lag(group, compat));
}

fn known(reply: &mut ReplyWriter<'_>, count: Option<u64>) {
    match count {
        // As with the stream's own counter, it may have run over.
        Some(count) => reply.integer(count.cast_signed()),
        None => reply.null(),
    }
}

/// The consumers of one group that wait at the moment.
struct Waiting<'a>(HashSet<&'a [u8]>);

impl<'a> Waiting<'a> {
    fn of(waits: &'a WaitList, db: usize, key: &[u8], group: &[u8]) -> Self {
        Self(waits.consumers(db, key, group).collect())
    }

    fn presence(&self, consumer: &[u8]) -> Presence {
        match self.0.contains(consumer) {
            true => Presence::Waits,
            false => Presence::Away,
        }
    }
}
