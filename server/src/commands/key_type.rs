//! `TYPE key`
//!
//! Replies with the type of the value: `string`, `stream`, or `none` for a missing key.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::ValueKind;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "type",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RO"])],
    summary: "Tells the type of a value.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    let kind = call.store().kind(db, key);

    reply.simple(kind.map_or("none", ValueKind::name));
    Ok(Flow::Done)
}
