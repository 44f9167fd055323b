//! `PERSIST key`
//!
//! Takes the deadline of a key away. Replies with 1, or with 0 if there was none.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "persist",
    arity: 2,
    syntax: "key",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RW", "update"])],
    summary: "Lets a key live for ever.",
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
    let persisted = call.store().persist(db, key);

    reply.integer(persisted.into());
    Ok(Flow::Done)
}
