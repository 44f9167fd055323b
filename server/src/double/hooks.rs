//! What happens around each command of a test double: faults, and the call log.
//!
//! [`Hooks`] is what the loop over a batch is generic over, so that a server that is no test double has
//! nothing of this in that loop.

use tailrace_protocol::Batch;
use tailrace_protocol::Request;
use tailrace_storage::Now;

use super::Double;
use super::calls::Said;
use super::calls::Spot;
use super::calls::is_plain;
use super::faults;
use super::readers;
use crate::client::Client;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::command_table::Lookup;
use crate::dispatch;
use crate::dispatch::Outcome;
use crate::dispatch::Step;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// A command as it came.
pub(crate) struct Sent<'a> {
    pub(crate) request: Request<'a>,
    /// The bytes that it was sent in, if they are at hand.
    pub(crate) frame: &'a [u8],
    /// Where in the batch they begin that came with them.
    pub(crate) at: usize,
}

/// What goes around the commands of a batch.
pub(crate) trait Hooks {
    /// A batch of a client begins, which came as these bytes, with this output before.
    fn begin(state: &mut State, id: ClientId, now: Now, input: &[u8], out: &[u8]) -> Self;

    /// [`dispatch::execute`], with whatever goes around it, for the command at an index of the batch. It may take until later than
    /// `now`. Nothing comes of it if its client is gone by then.
    fn execute(
        &mut self,
        state: &mut State,
        id: ClientId,
        sent: (usize, &Sent<'_>),
        now: &mut Now,
        out: &mut Vec<u8>,
    ) -> Outcome;

    /// It is later from the command on that begins so far in the batch.
    fn set_time(&mut self, state: &mut State, now: Now, sent: usize, out: &[u8]);

    /// So many bytes of the batch are done with, and this is the output. It may be left without that if its client is ended.
    fn end(self, state: &mut State, done: usize, out: &[u8]);
}

/// Nothing goes around a command.
pub(crate) struct NoHooks;

/// Faults and the call log go around it.
pub(crate) struct DoubleHooks {
    /// Nothing can strike the commands for now: nothing is noted of each.
    is_in_row: bool,
}

impl Hooks for NoHooks {
    #[inline(always)]
    fn begin(_: &mut State, _: ClientId, _: Now, _: &[u8], _: &[u8]) -> Self {
        Self
    }

    #[inline(always)]
    fn execute(
        &mut self,
        state: &mut State,
        id: ClientId,
        (_, sent): (usize, &Sent<'_>),
        now: &mut Now,
        out: &mut Vec<u8>,
    ) -> Outcome {
        dispatch::execute(state, id, sent.request, sent.frame.len(), *now, out)
    }

    #[inline(always)]
    fn set_time(&mut self, _: &mut State, _: Now, _: usize, _: &[u8]) {}

    #[inline(always)]
    fn end(self, _: &mut State, _: usize, _: &[u8]) {}
}

impl Hooks for DoubleHooks {
    #[inline]
    fn begin(state: &mut State, id: ClientId, now: Now, input: &[u8], out: &[u8]) -> Self {
        note_client(state, id.number);
        let is_simple = is_simple(state) && is_well(state, id);
        let State {
            clients, double, ..
        } = state;
        let Some(double) = double else {
            return Self { is_in_row: false };
        };
        let client = clients.get(id);
        let is_in_row = is_simple && client.is_some_and(hears_replies);
        let row = is_in_row.then_some((now.wall.0, out.len()));
        double.fresh.begin_batch(client, input, row);
        Self { is_in_row }
    }

    #[inline(always)]
    fn execute(
        &mut self,
        state: &mut State,
        id: ClientId,
        (index, sent): (usize, &Sent<'_>),
        now: &mut Now,
        out: &mut Vec<u8>,
    ) -> Outcome {
        if !self.is_in_row {
            let (outcome, is_in_row) = execute_in_time(state, id, (index, sent), now, out);
            self.is_in_row = is_in_row;
            return outcome;
        }
        let start = out.len();
        let bytes = sent.frame.len();
        let outcome = dispatch::execute(state, id, sent.request, bytes, *now, out);
        if !is_unremarkable(outcome) {
            self.is_in_row = after_remarkable(state, id, (index, sent), *now, outcome, start, out);
        }
        double(state).fresh.set_done(index + 1);
        outcome
    }

    fn set_time(&mut self, state: &mut State, now: Now, sent: usize, out: &[u8]) {
        if self.is_in_row {
            let end = Spot {
                sent,
                heard: out.len(),
            };
            double(state).fresh.set_time(now.wall.0, end, out);
        }
    }

    #[inline]
    fn end(self, state: &mut State, done: usize, out: &[u8]) {
        double(state).fresh.end_batch(done, out);
    }
}

impl<'a> Sent<'a> {
    /// Number `index` of a batch.
    #[inline(always)]
    pub(crate) fn of(batch: &'a Batch, input: &'a [u8], index: usize) -> Self {
        let at = batch.input_bytes(index);
        Self {
            request: batch.request(input, index),
            frame: &input[at..batch.input_bytes(index + 1)],
            at,
        }
    }

    /// A command whose bytes are not at hand any more.
    pub(super) fn before(request: Request<'a>) -> Self {
        Self {
            request,
            frame: b"",
            at: 0,
        }
    }

    /// For the log, as the bytes that came if they are at hand.
    fn said(&self) -> Said<'a> {
        match self.frame {
            b"" => Said::Words(self.request),
            frame => Said::Frame(frame, self.at),
        }
    }
}

/// Whether no fault can strike a command for now, and none moves the clock: what is due comes between them then.
#[inline]
fn is_simple(state: &State) -> bool {
    let double = state.double.as_ref();
    double.is_some_and(|double| double.lets_pass() && double.stage.tick().0 == 0)
}

/// Whether the node that a client speaks to is there.
#[inline]
fn is_well(state: &State, id: ClientId) -> bool {
    state.cluster.is_none() || state.refused_by_death(id).is_none()
}

/// Whether a client hears one reply to each command, and nothing else.
#[inline]
fn hears_replies(client: &Client) -> bool {
    client.reply_mode == ReplyMode::On
        && client.tracking.is_none()
        && !client.is_monitor
        && !client.is_subscriber()
}

/// Whether nothing is to be noted of a command but that it was called.
#[inline]
fn is_unremarkable(outcome: Outcome) -> bool {
    let is_so = |spec: &'static Spec| {
        is_plain(spec) && !spec.flags.has(Flags::BLOCKING | Flags::SERVES_CONSUMER)
    };
    outcome.step == Step::Done && outcome.ran.is_some_and(is_so)
}

/// Notes a command of a row that is answered from `start` on. Says whether those that follow belong to a row.
#[inline(never)]
fn after_remarkable(
    state: &mut State,
    id: ClientId,
    (index, sent): (usize, &Sent<'_>),
    now: Now,
    outcome: Outcome,
    start: usize,
    out: &[u8],
) -> bool {
    if let (Some(spec), Step::Done) = (outcome.ran, outcome.step)
        && is_plain(spec)
    {
        double(state).readers.note(id, spec, sent);
        return true;
    }
    let fresh = &mut double(state).fresh;
    fresh.end_row(Some(sent.at), Some(&out[..start]));
    log_passed(state, id, sent, now, outcome, &out[start..]);
    begin_row(state, id, (index, sent), now, outcome, out)
}

/// Lets the calls behind this one be a row, if nothing can strike them. Says whether it is so.
fn begin_row(
    state: &mut State,
    id: ClientId,
    (index, sent): (usize, &Sent<'_>),
    now: Now,
    outcome: Outcome,
    out: &[u8],
) -> bool {
    double(state).fresh.set_done(index + 1);
    if outcome.step != Step::Done || !is_simple(state) || !is_well(state, id) {
        return false;
    }
    // It may have begun a ledger.
    note_client(state, id.number);
    let State {
        clients, double, ..
    } = state;
    let client = clients.get(id);
    let (Some(double), true) = (double, client.is_some_and(hears_replies)) else {
        return false;
    };
    let start = Spot {
        sent: sent.at + sent.frame.len(),
        heard: out.len(),
    };
    double.fresh.begin_row(now.wall.0, client, start)
}

/// Executes a command that is no part of a row, before which time may pass. Says whether those that follow belong to one.
#[inline(never)]
fn execute_in_time(
    state: &mut State,
    id: ClientId,
    (index, sent): (usize, &Sent<'_>),
    now: &mut Now,
    out: &mut Vec<u8>,
) -> (Outcome, bool) {
    if let Some(later) = state.tick(id, sent.request) {
        *now = later;
        if state.clients.get(id).is_none() {
            // It has become time for this client, too.
            let nothing = Outcome {
                step: Step::Done,
                ran: None,
            };
            return (nothing, false);
        }
    }
    let bytes = sent.frame.len();
    let outcome = execute_alone(state, id, sent, bytes, *now, out);
    let is_in_row = begin_row(state, id, (index, sent), *now, outcome, out);
    (outcome, is_in_row)
}

/// Executes a command of so many bytes that was kept back.
pub(crate) fn execute_held(
    state: &mut State,
    id: ClientId,
    request: Request<'_>,
    bytes: usize,
    now: Now,
    out: &mut Vec<u8>,
) -> Outcome {
    execute_alone(state, id, &Sent::before(request), bytes, now, out)
}

/// Executes a command that is no part of a row.
fn execute_alone(
    state: &mut State,
    id: ClientId,
    sent: &Sent<'_>,
    bytes: usize,
    now: Now,
    out: &mut Vec<u8>,
) -> Outcome {
    note_client(state, id.number);
    if !is_well(state, id) || !double(state).lets_pass() {
        return faults::execute(state, id, sent, bytes, now, out);
    }
    let start = out.len();
    let outcome = dispatch::execute(state, id, sent.request, bytes, now, out);
    log_passed(state, id, sent, now, outcome, &out[start..]);
    outcome
}

/// Notes a command that no fault could strike.
fn log_passed(
    state: &mut State,
    id: ClientId,
    sent: &Sent<'_>,
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

/// What follows is done by the client of this number. Gives that of who was there before, if the ledger wants to know.
#[inline]
pub(crate) fn note_client(state: &mut State, number: u64) -> Option<u64> {
    let ledger = state.store.ledger_mut()?;
    Some(ledger.set_client(number))
}

/// Adds a call to the log, with the fault that struck it.
pub(super) fn log(
    state: &mut State,
    id: ClientId,
    spec: Option<&'static Spec>,
    sent: &Sent<'_>,
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
    double.fresh.add(at, spec, sent.said(), reply, fault);
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
