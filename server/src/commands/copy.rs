//! `COPY source destination [DB destination-db] [REPLACE]`
//!
//! Copies a key with its deadline, a stream with its groups and their pending entries. Replies with 1,
//! or with 0 if the source is missing or the destination is there and `REPLACE` is not given.

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
    name: "copy",
    arity: -3,
    syntax: "source:key destination:key#1 [DB destination-db:integer] [REPLACE]",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::KEYSPACE,
    keys: &[
        KeySpec::first(&["RO", "access"]),
        KeySpec::at(2, &["OW", "update"]),
    ],
    summary: "Copies a key to another name or database.",
    since: "6.2.0",
    complexity: "O(N), N being the size of the value.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (from, to) = (args.bytes()?, args.bytes()?);
    let db = call.db;
    let mut to_db = db;
    let mut replace = false;
    while !args.is_empty() {
        if args.keyword("replace") {
            replace = true;
        } else if args.keyword_with("db", 1) {
            to_db = db_args::database(args.bytes()?, call.store())?;
        } else {
            return Err(CommandError::Syntax);
        }
    }
    if db == to_db && from == to {
        return Err(KeyspaceError::SameObject.into());
    }

    serve::keep_attempts(call.state, db, from);
    let copied = call.store().copy(db, from, to_db, to, replace);

    reply.integer(copied.into());
    Ok(Flow::Done)
}
