//! `GET key`
//!
//! Replies with a string, or null for a missing key.

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
    name: "get",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::String,
    summary: "Returns a string.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    let value = call.store().string(db, key)?;

    encode::string_or_null(reply, value);
    Ok(Flow::Done)
}
