//! One command of one client: the checks in the reference's order, then its handler.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::Version;
use tailrace_storage::Compat;
use tailrace_storage::Now;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::command_log::CallBytes;
use crate::command_table::Lookup;
use crate::error::ClientError;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::ECHO_BYTES_MAX;
use crate::error::ScriptError;
use crate::error::ServerError;
use crate::error::echo;
use crate::gate::Hold;
use crate::serve;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;
use crate::tracking;

/// What became of a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Answered.
    Done,
    /// It waits, for a key, a time or the gate; so do the commands behind it.
    Waits,
}

/// What became of a command, and which one it was if it ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) step: Step,
    pub(crate) ran: Option<&'static Spec>,
}

/// Executes one command and appends its reply to `out`.
pub(crate) fn execute(
    state: &mut State,
    id: ClientId,
    request: Request<'_>,
    request_bytes: usize,
    now: Now,
    out: &mut Vec<u8>,
) -> Outcome {
    let start = out.len();
    if request.is_empty() {
        // As good as any for `CLIENT REPLY SKIP`.
        finish(state, id, start, out);
        return Outcome {
            step: Step::Done,
            ran: None,
        };
    }
    state.caller = Some(id);
    state.request_bytes = request_bytes;
    let admitted = admit(state, id, request);
    if state.slot_stats.is_on() {
        state.begin_slot_cost(id, request);
    }
    let client = state.clients.at(id);
    if !client.out.is_empty() {
        // What it has to forget before its command runs.
        out.append(&mut client.out);
    }
    let start = out.len();
    let mut reply = ReplyWriter::new(out, client.version);
    state.reply_start = reply.mark();
    let mut ran = None;
    let step = match admitted {
        Ok(Admitted::Run(spec)) => {
            ran = Some(spec);
            run(state, id, spec, request, now, &mut reply)
        }
        Ok(Admitted::Queue(spec, flags)) => {
            state.queue(id, spec, flags, request);
            reply.simple("QUEUED");
            Step::Done
        }
        Ok(Admitted::Hold) => {
            state.gate.hold(id, request.to_owned(), request_bytes);
            state.clients.at(id).gated = true;
            Step::Waits
        }
        Ok(Admitted::Abuse) => {
            state.warn_of_http(id, now.mono);
            let client = state.clients.at(id);
            client.closing = true;
            // At once: not even what was asked before is answered any more.
            client.link.kill();
            Step::Done
        }
        Err((spec, error)) => {
            // Who is sent to another node was not executed, and is not shown.
            let is_sent_on = matches!(error, CommandError::Cluster(_));
            let ends_transaction = spec.filter(|spec| spec.flags.has(Flags::RUNS_QUEUE));
            let ends_transaction = ends_transaction.filter(|_| !is_sent_on);
            refuse(state, id, spec, error, &mut reply);
            let is_shown = !state.monitors.is_empty();
            if is_shown && let Some(spec) = ends_transaction {
                // It ended the transaction whose beginning was shown.
                state.show_to_monitors(id, spec, request, now);
                reply.raw(&std::mem::take(&mut state.shown));
            }
            Step::Done
        }
    };
    state.caller = None;
    if step == Step::Done && state.slot_stats.is_on() {
        state.count_slot_input(ran, request_bytes);
    }
    match step {
        Step::Done => finish(state, id, start, out),
        // Its reply is still to come, and so is the end of `CLIENT REPLY SKIP`.
        Step::Waits => {
            state.clients.at(id).argument_bytes = request.byte_len();
            append_deferred(state, id, out);
        }
    }
    Outcome { step, ran }
}

/// Answers a command that may not run, and spoils the transaction that it was meant for.
fn refuse(
    state: &mut State,
    id: ClientId,
    spec: Option<&'static Spec>,
    error: CommandError,
    reply: &mut ReplyWriter<'_>,
) {
    let ends_transaction = spec.is_some_and(|spec| spec.flags.has(Flags::RUNS_QUEUE));
    if ends_transaction {
        state.discard(id);
    }
    let error = if ends_transaction && !matches!(error, CommandError::Cluster(_)) {
        let wire = error.wire();
        let reason = wire.strip_prefix(b"ERR ").unwrap_or(&wire).to_vec();
        ClientError::ExecAbortedBecause(reason).into()
    } else {
        error
    };
    if aborts_transaction(&error) {
        state.abort(id);
    }
    state.stats.on_rejected(spec, &error);
    reply.error(error.wire());
}

/// Silences the reply if the client asked for that, and puts the pushes it caused behind it.
pub(crate) fn finish(state: &mut State, id: ClientId, start: usize, out: &mut Vec<u8>) {
    let client = state.clients.at(id);
    if client.reply_mode != ReplyMode::On {
        out.truncate(start);
        client.is_unheard = client.closing && start == 0 && client.unsent_bytes() == 0;
        client.reply_mode = match client.reply_mode {
            ReplyMode::Skip => ReplyMode::On,
            ReplyMode::SkipNext => ReplyMode::Skip,
            mode => mode,
        };
    }
    if client.tracking.is_some() {
        tracking::end_choice(client);
    }
    // It holds for the next command, or for a whole transaction.
    let is_said_now = |spec: &Spec| spec.name == "asking";
    if client.asking
        && client.transaction.is_none()
        && !client.last_command.is_some_and(is_said_now)
    {
        client.asking = false;
    }
    append_deferred(state, id, out);
}

/// Puts the pushes for the caller behind the reply to its command: first messages, then what it is to drop
/// from its cache.
fn append_deferred(state: &mut State, id: ClientId, out: &mut Vec<u8>) {
    if state.caches.has_pending() {
        let caller = state.caller.replace(id);
        state.send_pending_invalidations(id);
        state.caller = caller;
    }
    if !state.deferred.is_empty() {
        out.append(&mut state.deferred);
    }
}

/// Runs a command that was admitted. `EXEC` comes through here for each of its commands.
pub(crate) fn run(
    state: &mut State,
    id: ClientId,
    spec: &'static Spec,
    request: Request<'_>,
    now: Now,
    reply: &mut ReplyWriter<'_>,
) -> Step {
    let client = state.clients.at(id);
    let db = client.db;
    state.store.set_no_touch(client.no_touch);
    state.store.set_import_source(client.import_source);
    state.store.set_from_script(false);
    crate::panic::set_command(spec.name);
    let first = spec.words();
    let mark = reply.mark();
    // Of the commands that are fast none changes others and not this one.
    let bytes_before = state.store.bytes_of(db);
    let mut call = Call {
        state,
        id,
        spec,
        now,
        db,
    };
    let step = match (spec.run)(&mut call, Args::new(request, first), reply) {
        Ok(Flow::Done) => Step::Done,
        Ok(Flow::Wait(command)) => {
            serve::park(state, id, spec, db, command, request);
            Step::Waits
        }
        Err(error) => {
            state.stats.on_failed(spec, &error);
            reply.rewind(mark);
            reply.error(error.wire());
            Step::Done
        }
    };
    if state.store.has_changes() {
        state.publish_events();
    }
    if state.caches.clients() > 0 {
        note_read(state, id, spec, request);
    }
    if !state.shown.is_empty() {
        // The call of a script and what the script called.
        reply.insert_raw(mark, &std::mem::take(&mut state.shown));
    }
    if step == Step::Done {
        state.stats.on_call(spec);
        let client = state.clients.at(id);
        client.commands += 1;
        let bytes = CallBytes {
            request: state.request_bytes,
            reply: reply.bytes_since(state.reply_start),
            pushed: client.pushed_bytes + state.deferred.len(),
        };
        state.touched_bytes =
            bytes.request + bytes.reply + bytes_before.abs_diff(state.store.bytes_of(db));
        if state.slot_stats.is_on() {
            state.count_slot_output(id, bytes.reply);
        }
        state.log_if_large(id, spec, request, now, bytes);
    }
    if !state.monitors.is_empty() {
        state.show_to_monitors(id, spec, request, now);
        reply.raw(&std::mem::take(&mut state.shown));
    }
    step
}

/// Notes the keys of a command that reads, if its client tracks them. A script reads nothing itself: the
/// commands do that it calls.
#[inline]
fn note_read(state: &mut State, id: ClientId, spec: &'static Spec, request: Request<'_>) {
    if state.clients.at(id).tracking.is_some()
        && spec.flags.has(Flags::READONLY)
        && !spec.flags.has(Flags::RUNS_SCRIPT)
    {
        state.remember_keys(id, spec, request);
    }
}

/// Runs a command that a script calls.
pub(crate) fn run_in_script(
    state: &mut State,
    id: ClientId,
    spec: &'static Spec,
    request: Request<'_>,
    now: Now,
    reply: &mut ReplyWriter<'_>,
) {
    crate::panic::set_command(spec.name);
    state.store.set_from_script(true);
    let first = spec.words();
    let mark = reply.mark();
    let db = state.clients.at(id).db;
    let mut call = Call {
        state,
        id,
        spec,
        now,
        db,
    };
    match (spec.run)(&mut call, Args::new(request, first), reply) {
        Ok(Flow::Done) => {}
        Ok(Flow::Wait(_)) => unreachable!("nothing waits inside of a script"),
        Err(error) => {
            state.stats.on_failed(spec, &error);
            reply.rewind(mark);
            reply.error(error.wire());
        }
    }
    if state.store.has_changes() {
        state.publish_events();
    }
    note_read(state, id, spec, request);
    if !state.monitors.is_empty() {
        // After SELECT it is another one.
        let db = state.clients.at(id).db;
        state.show_in_script(id, spec, db, request, now);
    }
    // What a script asks for was not sent, and what it hears does not go by its caller's CLIENT REPLY.
    let bytes = CallBytes {
        request: 0,
        reply: 0,
        pushed: reply.bytes_since(mark),
    };
    state.count_slot_call(id, spec, request, bytes.pushed);
    state.log_if_large(id, spec, request, now, bytes);
    state.stats.on_call(spec);
}

enum Admitted {
    Run(&'static Spec),
    /// Together with what it does, which scripts say themselves.
    Queue(&'static Spec, Flags),
    /// Kept until the gate opens.
    Hold,
    /// A web browser was made to talk to us.
    Abuse,
}

type Refused = (Option<&'static Spec>, CommandError);

/// Checks whether a command may run now. The order is the reference's.
fn admit(state: &mut State, id: ClientId, request: Request<'_>) -> Result<Admitted, Refused> {
    let lookup = state.commands.look_up(request);
    let known = match lookup {
        Lookup::Found(spec) => Some(spec),
        Lookup::UnknownSubcommand(_) | Lookup::Unknown => None,
    };
    state.clients.at(id).last_command = known;
    if known.is_none() && is_http(request) {
        return Ok(Admitted::Abuse);
    }
    let spec = identify(state, id, request, lookup).map_err(|error| (known, error))?;
    let refuse = |error: CommandError| Err((Some(spec), error));
    let client = state.clients.at(id);
    let in_multi = client.transaction.is_some();
    if in_multi && spec.flags.has(Flags::NO_MULTI) {
        return refuse(not_in_multi(spec.name, state.store.settings().compat));
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
    let is_held = match state.gate.holds() {
        None => false,
        Some(Hold::All) => true,
        Some(Hold::Writes) => flags.has(Flags::WRITE | Flags::MAY_REPLICATE),
    };
    if is_held && !is_monitor && !spec.flags.has(Flags::DOUBLE) {
        return Ok(Admitted::Hold);
    }
    if in_multi && !spec.flags.has(Flags::UNQUEUED) {
        return Ok(Admitted::Queue(spec, flags));
    }
    Ok(Admitted::Run(spec))
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
    state: &mut State,
    id: ClientId,
    request: Request<'_>,
    lookup: Lookup,
) -> Result<&'static Spec, CommandError> {
    let compat = state.store.settings().compat;
    let client = state.clients.at(id);
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
    let trust = state.config.settings().enable_debug_command;
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

/// A missing password leaves a transaction as it was; so do, in Redis, MULTI and WATCH.
fn aborts_transaction(error: &CommandError) -> bool {
    !matches!(
        error,
        CommandError::Client(
            ClientError::NoAuth | ClientError::NotInMultiOfRedis("multi" | "watch")
        )
    )
}

pub(crate) fn unknown_subcommand(request: Request<'_>, container: &'static Spec) -> CommandError {
    let asked = request.get(1).unwrap_or_default();
    CommandError::UnknownSubcommand {
        asked: echo(asked, ECHO_BYTES_MAX).to_vec(),
        container: container.name,
    }
}

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
