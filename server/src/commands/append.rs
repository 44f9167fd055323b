//! `APPEND key value`
//!
//! Appends to a string, which is created if it is missing, and replies with its length.

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
    name: "append",
    arity: 3,
    syntax: "key value",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "insert"])],
    group: Group::String,
    summary: "Appends to a string.",
    since: "2.0.0",
    complexity: "O(N), N being the length of what is appended, in the long run.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, value) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    let len = call.store().append_string(db, key, value)?;

    reply.unsigned(len as u64);
    Ok(Flow::Done)
}
