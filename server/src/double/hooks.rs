//! What happens around each command of a test double: faults, and the call log.
//!
//! [`Hooks`] is what the loop over a batch is generic over, so that a server that is no test double has
//! nothing of this in that loop.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Now;
use tailrace_storage::key_slot;

use super::Double;
use super::calls::Said;
use super::held::Held;
use super::held::PAUSED;
use super::held::What;
use super::readers;
use super::rules::Action;
use super::rules::HeldUntil;
use super::rules::Stage;
use crate::client::ClientId;
use crate::command_table::Lookup;
use crate::dispatch;
use crate::dispatch::Outcome;
use crate::dispatch::Step;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::Parked;
use crate::state::State;

/// A command as it came.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) request: Request<'a>,
    /// In how many bytes.
    pub(crate) bytes: usize,
    /// These bytes, if they are at hand.
    pub(crate) frame: &'a [u8],
    /// Where in the batch they begin that came with them.
    pub(crate) at: usize,
}

/// How one command is executed.
pub(crate) trait Hooks {
    /// [`dispatch::execute`], with whatever goes around it.
    fn execute(
        state: &mut State,
        id: ClientId,
        sent: Sent<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Outcome;

    /// What happens before a request that has just come; it may be later then.
    fn on_request(state: &mut State, id: ClientId, request: Request<'_>) -> Option<Now>;

    /// A batch of a client begins, which came as these bytes, with this output before.
    fn begin_batch(state: &mut State, id: ClientId, now: Now, input: &[u8], out: &[u8]);

    /// So many bytes of it are done with, and this is the output. It may be left without that if its client is ended.
    fn end_batch(state: &mut State, done: usize, out: &[u8]);
}

/// Nothing goes around a command.
pub(crate) struct NoHooks;

/// Faults and the call log go around it.
pub(crate) struct DoubleHooks;

impl Hooks for NoHooks {
    #[inline]
    fn execute(
        state: &mut State,
        id: ClientId,
        sent: Sent<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Outcome {
        dispatch::execute(state, id, sent.request, sent.bytes, now, out)
    }

    #[inline]
    fn on_request(_: &mut State, _: ClientId, _: Request<'_>) -> Option<Now> {
        None
    }

    #[inline]
    fn begin_batch(_: &mut State, _: ClientId, _: Now, _: &[u8], _: &[u8]) {}

    #[inline]
    fn end_batch(_: &mut State, _: usize, _: &[u8]) {}
}

impl Hooks for DoubleHooks {
    #[inline(always)]
    fn execute(
        state: &mut State,
        id: ClientId,
        sent: Sent<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let start = out.len();
        let fresh = &mut double(state).fresh;
        if !fresh.goes_on(now.wall.0, start) || may_be_test(sent) {
            fresh.end_row(out);
            return execute_alone(state, id, sent, now, out);
        }
        let outcome = dispatch::execute(state, id, sent.request, sent.bytes, now, out);
        let Double { fresh, readers, .. } = double(state);
        let end = sent.at + sent.frame.len();
        if let (Some(spec), Step::Done) = (outcome.ran, outcome.step)
            && fresh.add_to_row(spec, end, out.len())
        {
            readers.note(id, spec, sent);
            return outcome;
        }
        fresh.end_row(&out[..start]);
        log_passed(state, id, sent, now, outcome, &out[start..]);
        outcome
    }

    #[inline]
    fn on_request(state: &mut State, id: ClientId, request: Request<'_>) -> Option<Now> {
        state.tick(id, request)
    }

    fn begin_batch(state: &mut State, id: ClientId, now: Now, input: &[u8], out: &[u8]) {
        note_client(state, id);
        let is_simple = is_simple(state);
        let State {
            clients, double, ..
        } = state;
        if let Some(double) = double {
            let at = (now.wall.0, clients.get(id));
            double.fresh.begin_batch(at, input, out.len(), is_simple);
        }
    }

    fn end_batch(state: &mut State, done: usize, out: &[u8]) {
        double(state).fresh.end_batch(done, out);
    }
}

impl<'a> Sent<'a> {
    /// For the log, as the bytes that came if they are read like others.
    fn said(self) -> Said<'a> {
        match self.frame.first() {
            Some(b'*') => Said::Frame(self.frame, self.at),
            _ => Said::Words(self.request),
        }
    }
}

/// Whether what a client sent may be for the test double itself, which may then ask for calls. Inline commands may be, too: their
/// bytes are not read like others.
#[inline]
fn may_be_test(sent: Sent<'_>) -> bool {
    // Commands of up to 999 words with a name of up to 99 bytes.
    let ([b'*', _, b'\r', _, b'$', name @ ..]
    | [b'*', _, _, b'\r', _, b'$', name @ ..]
    | [b'*', _, _, _, b'\r', _, b'$', name @ ..]) = sent.frame
    else {
        return true;
    };
    match name {
        [_, b'\r', _, first, ..] | [_, _, b'\r', _, first, ..] => first.eq_ignore_ascii_case(&b't'),
        _ => true,
    }
}

/// Whether nothing can strike commands for now, and nobody waits who would be answered between them.
fn is_simple(state: &State) -> bool {
    let lets_pass = state
        .double
        .as_ref()
        .is_some_and(|double| double.lets_pass());
    lets_pass && state.cluster.is_none() && state.parked.is_empty()
}

/// Executes a command that is no part of a row. Those that follow may be.
fn execute_alone(
    state: &mut State,
    id: ClientId,
    sent: Sent<'_>,
    now: Now,
    out: &mut Vec<u8>,
) -> Outcome {
    note_client(state, id);
    let is_well = state.cluster.is_none() || state.refused_by_death(id).is_none();
    if !is_well || !double(state).lets_pass() {
        return execute_amid_faults(state, id, sent, now, out);
    }
    let start = out.len();
    let outcome = dispatch::execute(state, id, sent.request, sent.bytes, now, out);
    log_passed(state, id, sent, now, outcome, &out[start..]);
    if outcome.step == Step::Done && is_simple(state) {
        let State {
            clients, double, ..
        } = state;
        if let Some(double) = double {
            let at = (now.wall.0, clients.get(id));
            let sent_end = sent.at + sent.frame.len();
            double.fresh.open_row(at, sent_end, out.len());
        }
    }
    outcome
}

/// Notes a command that no fault could strike.
fn log_passed(
    state: &mut State,
    id: ClientId,
    sent: Sent<'_>,
    now: Now,
    outcome: Outcome,
    reply: &[u8],
) {
    let spec = match outcome.ran {
        Some(spec) => Some(spec),
        // It was queued or refused, or there is none.
        None => look_up(state, sent.request),
    };
    if let Some(spec) = spec {
        if spec.flags.has(Flags::DOUBLE) {
            return;
        }
        if readers::is_noted(spec) {
            double(state).readers.note(id, spec, sent);
        }
    }
    if outcome.step == Step::Done && !sent.request.is_empty() {
        log(state, id, spec, sent, now, None, reply);
    }
}

/// Executes a command unless a fault strikes before, and does to its reply what one that strikes after says.
#[cold]
fn execute_amid_faults(
    state: &mut State,
    id: ClientId,
    sent: Sent<'_>,
    now: Now,
    out: &mut Vec<u8>,
) -> Outcome {
    let Sent { request, bytes, .. } = sent;
    let spec = look_up(state, request);
    if request.is_empty() || spec.is_some_and(|spec| spec.flags.has(Flags::DOUBLE)) {
        return dispatch::execute(state, id, request, bytes, now, out);
    }
    let refused = state.refused_by_outage(id, spec, request, now);
    if let Some(error) = refused.or_else(|| state.refused_by_death(id)) {
        return refuse(state, id, spec, sent, now, &error, out);
    }
    if state.is_paused() {
        let command = What::Unseen(request.to_owned(), bytes);
        hold(state, id, PAUSED.to_vec(), HeldUntil::Released, command);
        return WAITS;
    }
    if let (Some(spec), Some(double)) = (spec, &mut state.double) {
        double.readers.note(id, spec, sent);
    }
    let start = out.len();
    let passes = double(state).held.passes(id);
    // A command that is queued or refused has not run.
    let mut ran = None;
    let struck = if let (Some(spec), false) = (spec, passes)
        && let Some((rule, action)) = strike(state, Stage::Before, spec, request, id)
    {
        if let Some(until) = action.holds(now) {
            let command = What::Command(request.to_owned(), bytes);
            hold(state, id, rule, until, command);
            return WAITS;
        }
        answer_instead(state, id, spec, request, &action, out);
        Some(rule)
    } else {
        let outcome = dispatch::execute(state, id, request, bytes, now, out);
        if outcome.step == Step::Waits {
            return outcome;
        }
        ran = outcome.ran;
        let mut call = Answered { spec, request, now };
        call.strike_after(state, id, start, out)
    };
    log(state, id, spec, sent, now, struck, &out[start..]);
    Outcome {
        step: Step::Done,
        ran,
    }
}

/// The command that is asked for, if there is one.
#[cold]
fn look_up(state: &State, request: Request<'_>) -> Option<&'static Spec> {
    match state.commands.look_up(request) {
        Lookup::Found(spec) => Some(spec),
        // A slip in what a test says to its double is told to the test, and is no call.
        Lookup::UnknownSubcommand(spec) if spec.flags.has(Flags::DOUBLE) => Some(spec),
        Lookup::UnknownSubcommand(_) | Lookup::Unknown => None,
    }
}

/// What follows is done by this client.
#[inline]
pub(crate) fn note_client(state: &mut State, id: ClientId) {
    if let Some(ledger) = state.store.ledger_mut() {
        ledger.set_client(id.number);
    }
}

/// A command that was executed, when it is answered.
struct Answered<'a> {
    spec: Option<&'static Spec>,
    request: Request<'a>,
    now: Now,
}

impl Answered<'_> {
    /// Does to the reply, which begins at `start`, what a fault says; gives the fault's name.
    fn strike_after(
        &mut self,
        state: &mut State,
        id: ClientId,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Option<Vec<u8>> {
        let spec = self.spec?;
        state.clients.get(id)?;
        let (rule, action) = strike(state, Stage::After, spec, self.request, id)?;
        if let Some(until) = action.holds(self.now) {
            let reply = match action {
                Action::Drip(at_once, every) => What::Drip {
                    bytes: out.split_off(start),
                    at_once,
                    every,
                },
                _ => What::Reply(out.split_off(start)),
            };
            hold(state, id, rule.clone(), until, reply);
            return Some(rule);
        }
        match &action {
            Action::Cut(bytes) => {
                out.truncate(out.len().min(start + bytes));
                state.clients.at(id).closing = true;
            }
            action => {
                out.truncate(start);
                end_or_say(state, id, spec, self.request, action, out);
            }
        }
        Some(rule)
    }
}

/// A command that waited is answered now: its reply stands in `out` from `start` on.
pub(crate) fn on_late_reply(
    state: &mut State,
    parked: &Parked,
    now: Now,
    start: usize,
    out: &mut Vec<u8>,
) {
    if parked.spec.flags.has(Flags::DOUBLE) {
        return;
    }
    let id = parked.client;
    let request = parked.request.as_request();
    let reply = out[start..].to_vec();
    let mut call = Answered {
        spec: Some(parked.spec),
        request,
        now,
    };
    let struck = call.strike_after(state, id, start, out);
    let heard = if struck.is_some() {
        &out[start..]
    } else {
        &reply[..]
    };
    let sent = Sent {
        request,
        bytes: 0,
        frame: b"",
        at: 0,
    };
    log(state, id, Some(parked.spec), sent, now, struck, heard);
}

fn strike(
    state: &mut State,
    stage: Stage,
    spec: &'static Spec,
    request: Request<'_>,
    id: ClientId,
) -> Option<(Vec<u8>, Action)> {
    let double = state.double.as_ref()?;
    let mut rules = double.stage.rules.lock();
    if rules.is_empty() {
        return None;
    }
    let client = state.clients.get(id)?;
    rules.strike(stage, spec, request, client)
}

/// Answers a command that is not executed, and spoils the transaction that it was meant for.
fn answer_instead(
    state: &mut State,
    id: ClientId,
    spec: &'static Spec,
    request: Request<'_>,
    action: &Action,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    end_or_say(state, id, spec, request, action, out);
    if out[start..].first() == Some(&b'-') {
        state.abort(id);
    }
    dispatch::finish(state, id, start, out);
}

/// Answers a command with an error in its place.
fn refuse(
    state: &mut State,
    id: ClientId,
    spec: Option<&'static Spec>,
    sent: Sent<'_>,
    now: Now,
    error: &str,
    out: &mut Vec<u8>,
) -> Outcome {
    let start = out.len();
    let version = state.clients.at(id).version;
    ReplyWriter::new(out, version).error(error);
    state.abort(id);
    dispatch::finish(state, id, start, out);
    log(state, id, spec, sent, now, None, &out[start..]);
    Outcome {
        step: Step::Done,
        ran: None,
    }
}

/// Ends the connection, or writes a reply.
fn end_or_say(
    state: &mut State,
    id: ClientId,
    spec: &'static Spec,
    request: Request<'_>,
    action: &Action,
    out: &mut Vec<u8>,
) {
    let node_place = match action {
        Action::Redirect(_, node) => state.place_of_named(id, node),
        _ => None,
    };
    let client = state.clients.at(id);
    match action {
        Action::Reply(bytes) => out.extend_from_slice(bytes),
        Action::Nil => ReplyWriter::new(out, client.version).null(),
        Action::Redirect(word, node) => {
            let keys = spec.keys_of(request).unwrap_or_default();
            let key = keys.first().and_then(|key| request.get(key.position));
            let slot = key.map_or(0, key_slot);
            let node = node_place.unwrap_or_else(|| String::from_utf8_lossy(node).into_owned());
            ReplyWriter::new(out, client.version).error(format!("{word} {slot} {node}"));
        }
        Action::Reset => {
            client.closing = true;
            client.link.reset();
        }
        Action::Close
        | Action::Cut(_)
        | Action::Drip(..)
        | Action::Delay(_)
        | Action::Hold
        | Action::Stall
        | Action::Drop => client.closing = true,
    }
}

/// Keeps something back; the client waits meanwhile.
fn hold(state: &mut State, client: ClientId, rule: Vec<u8>, until: HeldUntil, what: What) {
    state.clients.at(client).gated = true;
    let until = match until {
        HeldUntil::Instant(until) => Some(until),
        HeldUntil::Released => None,
    };
    double(state).held.add(Held {
        client,
        rule,
        until,
        what,
    });
}

fn log(
    state: &mut State,
    id: ClientId,
    spec: Option<&'static Spec>,
    sent: Sent<'_>,
    now: Now,
    fault: Option<Vec<u8>>,
    reply: &[u8],
) {
    let State {
        clients, double, ..
    } = state;
    let Some(double) = double else {
        return;
    };
    let at = (now.wall.0, clients.get(id));
    double.fresh.add(at, spec, sent.said(), reply);
    if let Some(fault) = fault {
        double.fresh.add_fault(fault);
    }
    if spec.is_none() {
        let name = sent.request.get(0).unwrap_or_default();
        double.stage.note_unsupported(name);
    }
}

fn double(state: &mut State) -> &mut Double {
    state
        .double
        .as_mut()
        .expect("these hooks are a double's only")
}

const WAITS: Outcome = Outcome {
    step: Step::Waits,
    ran: None,
};
