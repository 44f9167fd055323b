//! `CONFIG SET name value [name value ...]`
//!
//! Changes settings: all of them or none.
//!
//! Behaviour worth knowing:
//! - Who is connected stays authenticated when the password changes, as in the reference; when it is
//!   taken away, everybody is.
//! - A new `port` or `bind` closes what was listened on and keeps who is connected. If the new addresses
//!   cannot be had, the old ones are listened on again. `port 0` listens on none.
//! - `maxclients` is refused if the system does not allow as many open files.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::TO_ALL_NODES;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::config::Changed;
use crate::config::SetError;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::open_files;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

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

    let changed = state.config.set(names.clone().zip(values), is_local)?;
    if let Err(error) = act(state, &changed, names) {
        let has_moved = PLACES.iter().any(|(place, _)| changed.contains(place));
        state.config.undo(changed);
        if has_moved && let Err(error) = state.relisten(false) {
            tracing::error!("no new client can come: {error}");
        }
        return Err(error.into());
    }
    state.apply_settings();

    reply.ok();
    Ok(Flow::Done)
}

/// Does what may fail of what the new values ask for, or nothing.
fn act<'a>(
    state: &mut State,
    changed: &Changed,
    names: impl Iterator<Item = &'a [u8]>,
) -> Result<(), SetError> {
    if changed.contains("maxclients")
        && let Err(possible) = open_files::allow(state.config.settings().maxclients)
    {
        let why = format!(
            "The operating system is not able to handle the specified number of clients, try with \
             {possible}"
        );
        return Err(SetError::failed(b"maxclients", why));
    }
    let place = |name: &'a [u8]| PLACES.iter().find(|(place, _)| is_word(name, place));
    let changed_place = |place: &&(&str, _)| changed.contains(place.0);
    let Some((name, why)) = names.filter_map(place).find(changed_place) else {
        return Ok(());
    };
    let port_before = state.info.port;
    if let Err(error) = state.relisten(changed.contains("port")) {
        tracing::warn!("CONFIG SET {name}: {error}");
        state.info.port = port_before;
        return Err(SetError::failed(name.as_bytes(), (*why).to_owned()));
    }
    Ok(())
}

/// What says where to listen, and what is said if that is not possible.
const PLACES: &[(&str, &str)] = &[
    ("port", "Unable to listen on this port. Check server logs."),
    ("bind", "Failed to bind to specified addresses."),
];

impl From<SetError> for CommandError {
    fn from(error: SetError) -> Self {
        ServerError::Config(error).into()
    }
}
