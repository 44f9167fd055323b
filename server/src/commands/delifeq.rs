//! `DELIFEQ key value`
//!
//! Deletes a string if it has this value, as a lock is given back. Replies with 1 or 0.

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
    name: "delifeq",
    arity: 3,
    syntax: "key value",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RM", "delete"])],
    group: Group::String,
    summary: "Deletes a string if it has a given value.",
    since: "9.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, value) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    let removed = call.store().remove_if_equal(db, key, value)?;

    reply.integer(removed.into());
    Ok(Flow::Done)
}
