//! `CLIENT IMPORT-SOURCE ON | OFF`
//!
//! Says that the caller fills this server with the data of another one. While `import-mode` is on, keys that are
//! due are there for such clients, and the server does not delete them: the other one says when they are gone.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::switch;
use crate::args::Args;
use crate::args::is_word;
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
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let is_off = args.peek().is_some_and(|word| is_word(word, "off"));
    if !is_off && !call.state.config.settings().import_mode {
        return Err(ClientError::NotImporting.into());
    }
    call.client().import_source = switch(&mut args)?;
    reply.ok();
    Ok(Flow::Done)
}
