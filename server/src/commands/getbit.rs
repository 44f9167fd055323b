//! `GETBIT key offset` and `SETBIT key offset value`
//!
//! Reply with a bit of a string; SETBIT with what it was before it sets or clears it.
//!
//! Behaviour worth knowing:
//! - Bits beyond the end are clear. SETBIT makes the string long enough, even if it clears the bit.
//! - SETBIT that changes neither bit nor length tells nobody.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::Digits;
use tailrace_storage::bit_at;

use super::bit_args::position;
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

pub(super) const GETBIT: Spec = Spec {
    name: "getbit",
    arity: 3,
    syntax: "key offset:integer",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::BITMAP,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::Bitmap,
    summary: "Returns a bit of a string.",
    since: "2.2.0",
    ..Spec::of(get)
};

pub(super) const SETBIT: Spec = Spec {
    name: "setbit",
    arity: 4,
    syntax: "key offset:integer value:integer",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::BITMAP,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::Bitmap,
    summary: "Sets or clears a bit of a string, and returns what it was.",
    since: "2.2.0",
    ..Spec::of(set)
};

fn get(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let position = position(args.bytes()?, call)?;

    let db = call.db;
    let string = call.store().string(db, key)?;
    let mut digits = Digits::default();
    let bit = string.is_some_and(|string| bit_at(string.bytes_with(&mut digits), position));

    reply.integer(bit.into());
    Ok(Flow::Done)
}

fn set(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let position = position(args.bytes()?, call)?;
    let position = usize::try_from(position).map_err(|_| KeyspaceError::BitOffset)?;
    let bit = match parse_i64(args.bytes()?) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(KeyspaceError::BitValue.into()),
    };

    let db = call.db;
    let was = call.store().set_bit(db, key, position, bit)?;

    reply.integer(was.into());
    Ok(Flow::Done)
}
