//! `INCR key`, `DECR key`, `INCRBY key increment` and `DECRBY key decrement`
//!
//! Add to the number that a string is, and reply with the sum. A missing key counts as 0.
//!
//! Behaviour worth knowing:
//! - The deadline of the key stays.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::IncrementError;

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

pub(super) const INCR: Spec = Spec {
    name: "incr",
    arity: 2,
    syntax: "key",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::String,
    summary: "Adds 1 to a number.",
    ..Spec::of(incr)
};

pub(super) const DECR: Spec = Spec {
    name: "decr",
    arity: 2,
    syntax: "key",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::String,
    summary: "Subtracts 1 from a number.",
    ..Spec::of(decr)
};

pub(super) const INCRBY: Spec = Spec {
    name: "incrby",
    arity: 3,
    syntax: "key increment:integer",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::String,
    summary: "Adds to a number.",
    ..Spec::of(incrby)
};

pub(super) const DECRBY: Spec = Spec {
    name: "decrby",
    arity: 3,
    syntax: "key decrement:integer",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::String,
    summary: "Subtracts from a number.",
    ..Spec::of(decrby)
};

fn incr(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    add(call, args.bytes()?, 1, reply)
}

fn decr(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    add(call, args.bytes()?, -1, reply)
}

fn incrby(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, by) = (args.bytes()?, args.integer()?);
    add(call, key, by, reply)
}

fn decrby(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, by) = (args.bytes()?, args.integer()?);
    let by = by.checked_neg().ok_or(KeyspaceError::DecrementOverflow)?;
    add(call, key, by, reply)
}

fn add(
    call: &mut Call<'_>,
    key: &[u8],
    by: i64,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let sum = call.store().increment(db, key, by)?;

    reply.integer(sum);
    Ok(Flow::Done)
}

impl From<IncrementError> for CommandError {
    fn from(error: IncrementError) -> Self {
        match error {
            IncrementError::WrongType => Self::WrongType,
            IncrementError::NotAnInteger => Self::NotAnInteger,
            IncrementError::Overflow => KeyspaceError::IncrementOverflow.into(),
        }
    }
}
