//! `RENAME key newkey` and `RENAMENX key newkey`
//!
//! Give a key another name, with its deadline. `RENAME` replaces what had that name; `RENAMENX` refuses
//! then, and replies with 1 or 0.
//!
//! Behaviour worth knowing:
//! - To rename a key to itself does nothing, and `RENAMENX` replies with 0.
//! - Readers blocked on the new name are served, and group readers of the old one get an error.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::NoSuchKey;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::serve;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const RENAME: Spec = Spec {
    name: "rename",
    arity: 3,
    syntax: "key newkey:key#1",
    flags: Flags::WRITE,
    acl: Acl::KEYSPACE,
    keys: &[
        KeySpec::first(&["RW", "access", "delete"]),
        KeySpec::at(2, &["OW", "update"]),
    ],
    summary: "Renames a key, over another if there is one.",
    ..Spec::of(rename)
};

pub(super) const RENAMENX: Spec = Spec {
    name: "renamenx",
    history: &[("3.2.0", "A key may be renamed to its own name.")],
    arity: 3,
    syntax: "key newkey:key#1",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[
        KeySpec::first(&["RW", "access", "delete"]),
        KeySpec::at(2, &["OW", "insert"]),
    ],
    summary: "Renames a key unless there is one of the new name.",
    ..Spec::of(rename_nx)
};

fn rename(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (from, to) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    serve::keep_attempts(call.state, db, from);
    let renamed = call.store().rename(db, from, to);
    renamed.map_err(|NoSuchKey| CommandError::NoSuchKey)?;

    reply.ok();
    Ok(Flow::Done)
}

fn rename_nx(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (from, to) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    serve::keep_attempts(call.state, db, from);
    let renamed = call.store().rename_nx(db, from, to);
    let renamed = renamed.map_err(|NoSuchKey| CommandError::NoSuchKey)?;

    reply.integer(renamed.into());
    Ok(Flow::Done)
}
