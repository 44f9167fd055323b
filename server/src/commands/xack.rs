//! `XACK key group id [id ...]`
//!
//! Takes entries out of a group's pending list and replies with how many were there.
//!
//! Behaviour worth knowing:
//! - A missing key or group is 0, before any ID is looked at.
//! - One bad ID and nothing is acknowledged.
//! - Whose the entry was does not matter, nor whether the stream still has it.

use tailrace_protocol::ReplyWriter;

use super::group_args;
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
    name: "xack",
    arity: -4,
    syntax: "key group id...",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "update"])],
    group: Group::Stream,
    summary: "Acknowledges entries that were delivered to a consumer of a group.",
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
    let db = call.db;
    if group_args::find(call.store(), db, key, group)?.is_none() {
        reply.integer(0);
        return Ok(Flow::Done);
    }
    let ids = args.ids()?;

    let acknowledged = call
        .store()
        .acknowledge(db, key, group, &ids)
        .map_err(|error| group_args::refused(error, key, group))?;

    reply.unsigned(acknowledged);
    Ok(Flow::Done)
}
