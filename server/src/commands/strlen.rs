//! `STRLEN key`
//!
//! Replies with the length of a string in bytes; a missing key has none.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::StringValue;

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
    name: "strlen",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RO"])],
    group: Group::String,
    summary: "Tells the length of a string.",
    since: "2.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    let len = call.store().string(db, key)?.map_or(0, StringValue::len);

    reply.unsigned(len as u64);
    Ok(Flow::Done)
}
