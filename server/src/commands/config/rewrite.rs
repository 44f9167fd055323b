//! `CONFIG REWRITE`
//!
//! Writes the settings in force to the file that the server was started with.
//!
//! Behaviour worth knowing:
//! - Files that the file includes are not changed.

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

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let config = &call.state.config;
    if config.file().is_empty() {
        return Err(ServerError::NoConfigFile.into());
    }
    config.rewrite().map_err(ServerError::Rewrite)?;

    tracing::info!("CONFIG REWRITE: the configuration file says what is in force");
    reply.ok();
    Ok(Flow::Done)
}
