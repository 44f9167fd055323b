//! `MOVE key db`
//!
//! Moves a key with its deadline to another database. Replies with 1, or with 0 if the key is missing
//! here or there is one of its name.

use tailrace_protocol::ReplyWriter;

use super::db_args;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::serve;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "move",
    arity: 3,
    syntax: "key db:integer",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    summary: "Moves a key to another database.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let to_db = db_args::database(args.bytes()?, call.store())?;
    let db = call.db;
    if db == to_db {
        return Err(KeyspaceError::SameObject.into());
    }

    serve::keep_attempts(call.state, db, key);
    let moved = call.store().move_key(db, key, to_db);

    reply.integer(moved.into());
    Ok(Flow::Done)
}
