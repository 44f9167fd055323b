//! `GETDEL key`
//!
//! Deletes a string and replies with it, or with null for a missing key.

use tailrace_protocol::ReplyWriter;

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
    name: "getdel",
    arity: 2,
    syntax: "key",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "delete"])],
    group: Group::String,
    summary: "Returns a string and deletes it.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    encode::string_or_null(reply, call.store().string(db, key)?);
    call.store().remove(db, key);
    Ok(Flow::Done)
}
