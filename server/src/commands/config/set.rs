//! `CONFIG SET name value [name value ...]`
//!
//! Changes settings: all of them or none.
//!
//! Behaviour worth knowing:
//! - Who is connected stays authenticated when the password changes, as in the reference; when it is
//!   taken away, everybody is.
//! - `maxclients` is refused if the system does not allow as many open files.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::TO_ALL_NODES;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::config::SetError;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::open_files;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "config|set",
    arity: -4,
    syntax: "data(parameter value)...",
    flags: FLAGS,
    tips: TO_ALL_NODES,
    group: Group::Server,
    summary: "Changes settings while the server runs.",
    since: "2.0.0",
    history: &[("7.0.0", "Sets several directives at once.")],
    complexity: "O(N), N being the number of settings.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if !args.len().is_multiple_of(2) {
        return Err(CommandError::Syntax);
    }
    let (names, values) = (args.step_by(2), args.skip(1).step_by(2));
    let is_local = call.client().local;
    let state = &mut *call.state;

    let changed = state.config.set(names.zip(values), is_local)?;
    if changed.contains("maxclients")
        && let Err(possible) = open_files::allow(state.config.settings().maxclients)
    {
        state.config.undo(changed);
        let why = format!(
            "The operating system is not able to handle the specified number of clients, try with \
             {possible}"
        );
        return Err(SetError::failed(b"maxclients", why).into());
    }
    state.apply_settings();

    reply.ok();
    Ok(Flow::Done)
}

impl From<SetError> for CommandError {
    fn from(error: SetError) -> Self {
        ServerError::Config(error).into()
    }
}
