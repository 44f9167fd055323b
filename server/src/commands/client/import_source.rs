//! `CLIENT IMPORT-SOURCE ON | OFF`
//!
//! Refuses to be switched on: this server is never in import mode.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|import-source",
    arity: 3,
    syntax: "enabled(ON|OFF)",
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Marks the client as a source of imported data.",
    since: "8.1.0",
    ..Spec::of(run)
};

fn run(
    _: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if !args.keyword("off") {
        return Err(ClientError::NotImporting.into());
    }
    reply.ok();
    Ok(Flow::Done)
}
