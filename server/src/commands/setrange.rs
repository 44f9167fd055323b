//! `SETRANGE key offset value`
//!
//! Overwrites a part of a string, filled up with zeros before it, and replies with the length.
//!
//! Behaviour worth knowing:
//! - The empty value changes and creates nothing.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "setrange",
    arity: 4,
    syntax: "key offset:integer value",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "update"])],
    group: Group::String,
    summary: "Overwrites a part of a string.",
    since: "2.2.0",
    complexity: "O(N), N being the length of the value and of the gap before it.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let offset = args.integer()?;
    let offset = usize::try_from(offset).map_err(|_| KeyspaceError::Offset)?;
    let value = args.bytes()?;

    let db = call.db;
    let len = call.store().set_range(db, key, offset, value)?;

    reply.unsigned(len as u64);
    Ok(Flow::Done)
}
