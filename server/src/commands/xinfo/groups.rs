//! `XINFO GROUPS key`
//!
//! Lists the groups of a stream in byte order of their names.
//!
//! Behaviour worth knowing:
//! - `entries-read` and `lag` are null where deletions have made them unknown.

use tailrace_protocol::ReplyWriter;

use super::super::encode;
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
    name: "xinfo|groups",
    arity: 3,
    syntax: "key",
    flags: Flags::READONLY,
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RO", "access"])],
    group: Group::Stream,
    summary: "Lists the groups of a stream.",
    since: "5.0.0",
    history: &[("7.0.0", "Shows `entries-read` and `lag`.")],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    let store = call.store();
    let compat = store.settings().compat;
    let stream = store.stream(db, key)?.ok_or(CommandError::NoSuchKey)?;

    reply.array(stream.groups().len());
    for (name, group) in stream.groups() {
        reply.map(6);
        reply.bulk(b"name");
        reply.bulk(name);
        reply.bulk(b"consumers");
        reply.unsigned(group.consumer_count() as u64);
        reply.bulk(b"pending");
        reply.unsigned(group.pending().len() as u64);
        reply.bulk(b"last-delivered-id");
        encode::id(reply, group.last_delivered());
        super::progress(reply, stream, group, compat);
    }
    Ok(Flow::Done)
}
