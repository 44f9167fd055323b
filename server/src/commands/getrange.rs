//! `GETRANGE key start end` and its older name `SUBSTR key start end`
//!
//! Reply with a part of a string, both ends included; negative positions count from the end.
//!
//! Behaviour worth knowing:
//! - An end before the first byte means the first byte, so `GETRANGE k 0 -100` is one byte.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Digits;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const GETRANGE: Spec = Spec {
    name: "getrange",
    arity: 4,
    syntax: "key start:integer end:integer",
    flags: Flags::READONLY,
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::String,
    summary: "Returns a part of a string.",
    since: "2.4.0",
    complexity: "O(N), N being the length of the part.",
    ..Spec::of(run)
};

pub(super) const SUBSTR: Spec = Spec {
    name: "substr",
    arity: 4,
    syntax: "key start:integer end:integer",
    flags: Flags::READONLY,
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::String,
    summary: "Returns a part of a string; an older name of GETRANGE.",
    complexity: "O(N), N being the length of the part.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let (start, end) = (args.integer()?, args.integer()?);

    let db = call.db;
    match call.store().string(db, key)? {
        Some(value) => reply.bulk(value.range_with(start, end, &mut Digits::default())),
        None => reply.bulk(b""),
    }
    Ok(Flow::Done)
}
