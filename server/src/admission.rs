//! Whether a command may run: the checks in the reference's order.

use tailrace_protocol::Request;
use tailrace_protocol::Version;
use tailrace_storage::Compat;

use crate::client::Client;
use crate::client::ClientId;
use crate::command_table::Lookup;
use crate::config::Trust;
use crate::error::ClientError;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::ECHO_BYTES_MAX;
use crate::error::ScriptError;
use crate::error::ServerError;
use crate::error::echo;
use crate::gate::Hold;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// What is to become of a command that may run.
pub(crate) enum Admitted {
    Run(&'static Spec),
    /// Together with what it does, which scripts say themselves.
    Queue(&'static Spec, Flags),
    /// Kept until the gate opens.
    Hold,
    /// A web browser was made to talk to us.
    Abuse,
}

/// Which command may not run, if there is one of that name, and why.
pub(crate) type Refused = (Option<&'static Spec>, CommandError);

/// Checks whether a command may run now. The order is the reference's.
pub(crate) fn admit(
    state: &mut State,
    id: ClientId,
    request: Request<'_>,
) -> Result<Admitted, Refused> {
    let lookup = state.commands.look_up(request);
    let known = match lookup {
        Lookup::Found(spec) => Some(spec),
        Lookup::UnknownSubcommand(_) | Lookup::Unknown => None,
    };
    let client = state.clients.at(id);
    client.last_command = known;
    if known.is_none() && is_http(request) {
        return Ok(Admitted::Abuse);
    }
    let compat = state.store.settings().compat;
    let trust = state.config.settings().enable_debug_command;
    let spec = identify(client, compat, trust, request, lookup).map_err(|error| (known, error))?;
    let refuse = |error: CommandError| Err((Some(spec), error));
    let in_multi = client.transaction.is_some();
    if in_multi && spec.flags.has(Flags::NO_MULTI) {
        return refuse(not_in_multi(spec.name, compat));
    }
    // What it does itself, and what the commands do that it runs.
    let mut flags = spec.flags;
    if flags.has(Flags::RUNS_QUEUE | Flags::RUNS_SCRIPT) {
        if let Some(transaction) = &client.transaction
            && flags.has(Flags::RUNS_QUEUE)
        {
            flags = flags | transaction.flags;
        } else if flags.has(Flags::RUNS_SCRIPT) {
            flags = state.scripts.flags_of_call(spec, request);
        }
    }
    let restricted = client.is_subscriber()
        && client.version == Version::Resp2
        && !spec.flags.has(Flags::SUBSCRIBED);
    let is_monitor = client.is_monitor;
    if state.cluster.is_some() {
        let routed = state.route(id, spec, flags, request);
        routed.map_err(|error| (Some(spec), error.into()))?;
        if flags.has(Flags::WRITE) && state.is_on_replica(id) {
            return refuse(ClusterError::ReadOnly.into());
        }
    }
    let memory_max = state.config.settings().maxmemory_bytes;
    if memory_max > 0
        && state
            .memory_for(flags)
            .is_some_and(|used| used > memory_max)
    {
        return refuse(CommandError::OutOfMemory);
    }
    if state.caches.clients() > 0 {
        state.forget_keys(Some(id));
    }
    if restricted {
        return refuse(ClientError::Subscribed(spec.name).into());
    }
    if state.scripts.is_busy() && !flags.has(Flags::ALLOW_BUSY) {
        return refuse(ScriptError::busy(state.config.settings().compat).into());
    }
    if is_monitor && flags.has(Flags::WRITE | Flags::READONLY | Flags::MAY_REPLICATE) {
        return refuse(ClientError::Monitoring.into());
    }
    if is_held(state, flags) && !is_monitor && !spec.flags.has(Flags::DOUBLE) {
        return Ok(Admitted::Hold);
    }
    if in_multi && !spec.flags.has(Flags::UNQUEUED) {
        return Ok(Admitted::Queue(spec, flags));
    }
    Ok(Admitted::Run(spec))
}

/// Whether the gate is closed for commands that do this.
#[inline]
fn is_held(state: &State, flags: Flags) -> bool {
    match state.gate.holds() {
        None => false,
        Some(Hold::All) => true,
        Some(Hold::Writes) => flags.has(Flags::WRITE | Flags::MAY_REPLICATE),
    }
}

impl State {
    /// What counts as used before a command that may add to it.
    fn memory_for(&self, flags: Flags) -> Option<u64> {
        let used = self.limited_bytes();
        if flags.has(Flags::DENYOOM) {
            return Some(used);
        }
        let is_redis = self.store.settings().compat == Compat::Redis;
        let grows_client = is_redis && flags.has(Flags::GROWS_CLIENT);
        grows_client.then(|| used + (self.pubsub.bytes + self.request_bytes) as u64)
    }
}

/// Checks whether the caller may use the command at all, and whether there is one that is called so.
fn identify(
    client: &Client,
    compat: Compat,
    trust: Trust,
    request: Request<'_>,
    lookup: Lookup,
) -> Result<&'static Spec, CommandError> {
    let is_open = match lookup {
        Lookup::Found(spec) => spec.flags.has(Flags::NO_AUTH),
        // Redis looks for the command first.
        Lookup::UnknownSubcommand(_) | Lookup::Unknown => compat == Compat::Redis,
    };
    if !client.authenticated && !is_open {
        return Err(ClientError::NoAuth.into());
    }
    let spec = match lookup {
        Lookup::Found(spec) => spec,
        Lookup::UnknownSubcommand(container) => {
            return Err(unknown_subcommand(request, container));
        }
        Lookup::Unknown => return Err(unknown_command(request, compat)),
    };
    if !spec.fits(request.len()) {
        return Err(CommandError::arity(spec));
    }
    if spec.flags.has(Flags::PROTECTED) && !trust.allows(client.local) {
        return Err(ServerError::Protected {
            command: "DEBUG",
            option: "enable-debug-command",
        }
        .into());
    }
    Ok(spec)
}

/// Whether this is the first line or the host of an HTTP request: a page that a browser shows can
/// make it send those, with commands in the body.
fn is_http(request: Request<'_>) -> bool {
    let name = request.get(0).unwrap_or_default();
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}

fn not_in_multi(name: &'static str, compat: Compat) -> CommandError {
    match compat {
        Compat::Valkey => ClientError::NotInMulti(name).into(),
        Compat::Redis => ClientError::NotInMultiOfRedis(name).into(),
    }
}

/// The error for a word behind the name of a container that is none of its subcommands.
pub(crate) fn unknown_subcommand(request: Request<'_>, container: &'static Spec) -> CommandError {
    let asked = request.get(1).unwrap_or_default();
    CommandError::UnknownSubcommand {
        asked: echo(asked, ECHO_BYTES_MAX).to_vec(),
        container: container.name,
    }
}

/// The error for a name that no command has; it shows how the request begins.
pub(crate) fn unknown_command(request: Request<'_>, compat: Compat) -> CommandError {
    let name = request.get(0).unwrap_or_default();
    let mut args = Vec::new();
    for arg in request.iter().skip(1) {
        if args.len() >= ECHO_BYTES_MAX {
            break;
        }
        let room = ECHO_BYTES_MAX - args.len();
        args.push(b'\'');
        args.extend_from_slice(echo(arg, room));
        args.extend_from_slice(b"' ");
    }
    CommandError::UnknownCommand {
        name: echo(name, ECHO_BYTES_MAX).to_vec(),
        args: (compat == Compat::Valkey || !args.is_empty()).then_some(args),
    }
}
