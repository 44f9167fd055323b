//! `SETEX key seconds value` and `PSETEX key milliseconds value`
//!
//! Set a string and how long it has left.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::SetExpiry;
use tailrace_storage::SetOptions;

use super::expiry_args::Deadline;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SETEX: Spec = Spec {
    name: "setex",
    arity: 4,
    syntax: "key seconds:integer value",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::BY_SIZE),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["OW", "update"])],
    group: Group::String,
    summary: "Sets a string and how many seconds it has left.",
    since: "2.0.0",
    ..Spec::of(setex)
};

pub(super) const PSETEX: Spec = Spec {
    name: "psetex",
    arity: 4,
    syntax: "key milliseconds:integer value",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::BY_SIZE),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["OW", "update"])],
    group: Group::String,
    summary: "Sets a string and how many milliseconds it has left.",
    since: "2.6.0",
    ..Spec::of(psetex)
};

fn setex(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    run(call, args, reply, Deadline::Seconds)
}

fn psetex(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    run(call, args, reply, Deadline::Millis)
}

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
    deadline: Deadline,
) -> Result<Flow, CommandError> {
    let (key, time, value) = (args.bytes()?, args.bytes()?, args.bytes()?);
    let options = SetOptions {
        expiry: SetExpiry::At(deadline.parse(time, call)?),
        ..SetOptions::default()
    };

    let db = call.db;
    call.store().set(db, key, value, options)?;

    reply.ok();
    Ok(Flow::Done)
}
