//! `XINFO CONSUMERS key group`
//!
//! Lists the consumers of a group in byte order of their names.
//!
//! Behaviour worth knowing:
//! - `idle` is the time since the consumer asked for something, `inactive` since it was given
//!   something, -1 if it never was. One that waits asks again whenever it is tried.

use tailrace_protocol::ReplyWriter;

use super::Waiting;
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
    name: "xinfo|consumers",
    arity: 4,
    syntax: "key group",
    flags: Flags::READONLY,
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RO", "access"])],
    tips: &["nondeterministic_output"],
    group: Group::Stream,
    summary: "Lists the consumers of a group.",
    since: "5.0.0",
    history: &[(
        "7.2.0",
        "Shows `inactive`, and `idle` means the last attempt.",
    )],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, name) = (args.bytes()?, args.bytes()?);

    let (db, now) = (call.db, call.now.unix());
    let state = &mut *call.state;
    let stream = state.store.stream(db, key)?;
    let group = stream
        .ok_or(CommandError::NoSuchKey)?
        .group(name)
        .ok_or_else(|| super::super::xgroup::no_such_group(name, key))?;
    let waiting = Waiting::of(&state.waits, db, key, name);

    reply.array(group.consumer_count());
    for (index, consumer) in group.consumers() {
        let presence = waiting.presence(consumer.name());
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(consumer.name());
        reply.bulk(b"pending");
        reply.unsigned(group.pending().count_of(index));
        reply.bulk(b"idle");
        reply.unsigned(now.since(group.seen_at(index, presence)).0);
        reply.bulk(b"inactive");
        match consumer.inactive(now) {
            Some(inactive) => reply.unsigned(inactive.0),
            None => reply.integer(-1),
        }
    }
    Ok(Flow::Done)
}
