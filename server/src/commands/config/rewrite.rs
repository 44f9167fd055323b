//! `CONFIG REWRITE`
//!
//! Not there yet: changes that were made while the server runs are not written to its file, so this is
//! always an error.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::TO_ALL_NODES;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "config|rewrite",
    arity: 2,
    flags: FLAGS,
    tips: TO_ALL_NODES,
    group: Group::Server,
    summary: "Writes the settings to the file that the server was started with.",
    since: "2.8.0",
    ..Spec::of(run)
};

fn run(call: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    let why = if call.state.config.file().is_empty() {
        "ERR The server is running without a config file"
    } else {
        "ERR Rewriting config file: not supported; change the file and restart the server"
    };
    Err(ServerError::Rewrite(why).into())
}
