//! `GETSET key value`
//!
//! Sets a string and replies with the one that was there, or null. A deadline goes.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::SetOptions;

use super::encode;
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
    name: "getset",
    arity: 3,
    syntax: "key value",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::String,
    summary: "Sets a string and returns the one before.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, value) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    encode::string_or_null(reply, call.store().string(db, key)?);
    call.store().set(db, key, value, SetOptions::default())?;
    Ok(Flow::Done)
}
