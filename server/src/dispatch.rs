//! One command of one client: whether it may run, then its handler and what follows from it.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Now;

use crate::admission::Admitted;
use crate::admission::admit;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::command_log::CallBytes;
use crate::double;
use crate::error::ClientError;
use crate::error::CommandError;
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

/// An error as its caller hears it.
fn hinted(error: CommandError, spec: &'static Spec) -> CommandError {
    match spec.flags.has(Flags::DOUBLE) {
        true => double::commands::hinted(error, spec),
        false => error,
    }
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
    let error = match spec {
        Some(spec) => hinted(error, spec),
        None => error,
    };
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
            let error = hinted(error, spec);
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

/// A missing password leaves a transaction as it was; so do, in Redis, MULTI and WATCH.
fn aborts_transaction(error: &CommandError) -> bool {
    !matches!(
        error,
        CommandError::Client(
            ClientError::NoAuth | ClientError::NotInMultiOfRedis("multi" | "watch")
        )
    )
}
