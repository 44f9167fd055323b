//! `DUMP key`
//!
//! Replies with what the key holds, in the form of the reference's files, for RESTORE here or on another server. A
//! missing key gives null.
//!
//! Behaviour worth knowing:
//! - The deadline of the key is not part of it.
//! - It says version 11 of the format, which Valkey and Redis both read, and strings in it are not packed.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::serve;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "dump",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RO", "access"])],
    tips: &["nondeterministic_output"],
    summary: "Writes what a key holds, for RESTORE.",
    since: "2.6.0",
    complexity: "O(N), N being the size of the value.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    serve::keep_attempts(call.state, db, key);
    match call.store().payload(db, key) {
        Some(payload) => reply.bulk(&payload),
        None => reply.null(),
    }
    Ok(Flow::Done)
}
