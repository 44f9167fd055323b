//! What faults do to a command and to its reply.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Now;
use tailrace_storage::key_slot;

use super::held::Held;
use super::held::PAUSED;
use super::held::What;
use super::hooks::Sent;
use super::hooks::double;
use super::hooks::log;
use super::hooks::look_up;
use super::rules::Action;
use super::rules::HeldUntil;
use super::rules::Stage;
use crate::client::ClientId;
use crate::dispatch;
use crate::dispatch::Outcome;
use crate::dispatch::Step;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::Parked;
use crate::state::State;

/// Executes a command unless a fault strikes before, and does to its reply what one that strikes after says.
#[cold]
pub(super) fn execute(
    state: &mut State,
    id: ClientId,
    sent: &Sent<'_>,
    bytes: usize,
    now: Now,
    out: &mut Vec<u8>,
) -> Outcome {
    let request = sent.request;
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
    let sent = Sent::before(request);
    log(state, id, Some(parked.spec), &sent, now, struck, heard);
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
    sent: &Sent<'_>,
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

const WAITS: Outcome = Outcome {
    step: Step::Waits,
    ran: None,
};
