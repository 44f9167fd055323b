//! `XGROUP DESTROY key group`
//!
//! Removes a group with its consumers and all that they have pending; replies with 1 if there was
//! such a group. Its readers that wait get an error.

use tailrace_protocol::ReplyWriter;

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
    name: "xgroup|destroy",
    arity: 4,
    syntax: "key group",
    flags: Flags::WRITE,
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RW", "delete"])],
    group: Group::Stream,
    summary: "Removes a group.",
    since: "5.0.0",
    complexity: "O(N), N being the number of its pending entries.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, group) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    let destroyed = call
        .store()
        .destroy_group(db, key, group)
        .map_err(|error| super::refused(error, key, group))?;

    reply.integer(destroyed.into());
    Ok(Flow::Done)
}
