//! What happens around each command of a test double: faults, and the call log.
//!
//! [`Hooks`] is what the loop over a batch is generic over, so that a server that is no test double has
//! nothing of this in that loop.

use tailrace_protocol::Request;
use tailrace_storage::Now;

use super::Double;
use super::calls::Said;
use super::faults;
use super::readers;
use crate::client::ClientId;
use crate::command_table::Lookup;
use crate::dispatch;
use crate::dispatch::Outcome;
use crate::dispatch::Step;
use crate::spec::Flags;
use crate::spec::Spec;
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
    let first = sent.request.get(0).and_then(<[u8]>::first);
    sent.frame.first() != Some(&b'*') || first.is_none_or(|first| first.eq_ignore_ascii_case(&b't'))
}

/// Whether nothing can strike commands for now, and nobody waits who would be answered between them.
fn is_simple(state: &State) -> bool {
    let double = state.double.as_ref();
    // Where each command moves the clock, what is due comes between them.
    let is_still = |double: &Double| double.lets_pass() && double.stage.tick().0 == 0;
    double.is_some_and(|double| is_still(double))
        && state.cluster.is_none()
        && state.parked.is_empty()
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
        return faults::execute(state, id, sent, now, out);
    }
    let start = out.len();
    let outcome = dispatch::execute(state, id, sent.request, sent.bytes, now, out);
    log_passed(state, id, sent, now, outcome, &out[start..]);
    if outcome.step == Step::Done && is_simple(state) {
        // It may have begun a ledger.
        note_client(state, id);
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

/// The command that is asked for, if there is one.
#[cold]
pub(super) fn look_up(state: &State, request: Request<'_>) -> Option<&'static Spec> {
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

/// Adds a call to the log, with the fault that struck it.
pub(super) fn log(
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

/// The double whose hooks these are.
pub(super) fn double(state: &mut State) -> &mut Double {
    state
        .double
        .as_mut()
        .expect("these hooks are a double's only")
}
