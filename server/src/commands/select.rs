//! `SELECT index`
//!
//! Changes the database that the connection's commands work on.

use tailrace_protocol::ReplyWriter;

use super::db_args;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "select",
    arity: 2,
    syntax: "index:integer",
    flags: Flags::LOADING
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Changes the database of the connection.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = db_args::database(args.bytes()?, call.store())?;

    call.client().db = db;

    reply.ok();
    Ok(Flow::Done)
}
