//! Executes the requests that a connection gives, as a batch.

use std::panic::AssertUnwindSafe;

use tailrace_protocol::Batch;
use tailrace_storage::Now;

use super::Engine;
use super::Sending;
use super::Verdict;
use crate::client::ClientId;
use crate::dispatch::Outcome;
use crate::dispatch::Step;
use crate::double::hooks::DoubleHooks;
use crate::double::hooks::Hooks;
use crate::double::hooks::NoHooks;
use crate::double::hooks::Sent;
use crate::input::InputLimits;
use crate::serve;
use crate::spec::Spec;
use crate::state::State;

/// What came of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// How many of its requests are done with; one that waits is. While it does, all of the input was
    /// taken.
    pub(crate) count: usize,
    pub(crate) verdict: Verdict,
    /// Whether the client is sent anything by that.
    pub(crate) has_replied: bool,
    /// What the client may send from now on; nothing if it is gone.
    pub(crate) limits: Option<InputLimits>,
}

impl Executed {
    /// The client was removed.
    pub(super) const GONE: Self = Self {
        count: 0,
        verdict: Verdict::Closing,
        has_replied: false,
        limits: None,
    };

    /// The client is to be executed elsewhere.
    const ELSEWHERE: Self = Self {
        verdict: Verdict::Elsewhere,
        ..Self::GONE
    };
}

impl Engine {
    /// Executes the requests of `batch` from the first on. What clients are to hear by that is sent when the
    /// turn ends, or now if it is urgent.
    ///
    /// A panic leaves the data in doubt: it is reported, and the engine refuses all that follows.
    pub(crate) fn execute(
        &self,
        id: ClientId,
        input: &[u8],
        batch: &Batch,
        received: usize,
    ) -> Executed {
        let mut guard = self.lock();
        let state = &mut *guard;
        let now = self.clock.now();
        let mut replies = Replies::default();
        let executed = std::panic::catch_unwind(AssertUnwindSafe(|| {
            self.execute_locked(state, id, input, batch, received, now, &mut replies)
        }));
        let executed = match executed {
            Ok(executed) => executed,
            Err(_) => {
                replies.give_whole(state, id);
                state.on_fault(id)
            }
        };
        self.release(guard, Some(id), Sending::AtTurnEnd, now);
        executed
    }

    fn execute_locked(
        &self,
        state: &mut State,
        id: ClientId,
        input: &[u8],
        batch: &Batch,
        received: usize,
        now: Now,
        replies: &mut Replies,
    ) -> Executed {
        if state.fault.is_some() {
            return state.on_fault(id);
        }
        state.begin(now);
        serve::settle(state, now);
        self.run_resumed(state, now);
        state.stats.on_read(received);
        let Some(client) = state.clients.get_mut(id) else {
            return Executed::GONE;
        };
        client.active_at = now.mono;
        client.bytes_in += received as u64;
        match Verdict::of(client) {
            Verdict::Waiting => return state.take_input(id, input),
            Verdict::Open | Verdict::Elsewhere if !client.backlog.is_empty() => {
                return state.take_input(id, input);
            }
            Verdict::Elsewhere => return Executed::ELSEWHERE,
            Verdict::Open | Verdict::Closing => {}
        }
        if received > 0 && state.limit_input(id, input.len()) {
            return Executed::GONE;
        }
        let Some(count) = self.run_batch(state, id, input, batch, now, replies) else {
            return Executed::GONE;
        };
        let limits = InputLimits::of(state, id);
        let client = state.clients.at(id);
        let verdict = Verdict::of(client);
        client.out = std::mem::take(&mut replies.out);
        let has_replied = !client.out.is_empty();
        if has_replied {
            state.outbox.add_reply(client);
        }
        let rest = &input[batch.input_bytes(count)..];
        client.is_amid_input = verdict == Verdict::Open
            && !rest.is_empty()
            && (count < batch.len() || limits.batch().are_reached(batch));
        if verdict == Verdict::Waiting {
            client.set_backlog(rest);
        } else {
            client.input_bytes = rest.len();
        }
        self.run_resumed(state, now);
        Executed {
            count,
            verdict,
            has_replied,
            limits: Some(limits),
        }
    }

    /// Runs commands, as [`Self::run_batch_with`] says, with what a test double has around them.
    pub(crate) fn run_batch(
        &self,
        state: &mut State,
        id: ClientId,
        input: &[u8],
        batch: &Batch,
        now: Now,
        replies: &mut Replies,
    ) -> Option<usize> {
        match state.double {
            None => self.run_batch_with::<NoHooks>(state, id, input, batch, now, replies),
            Some(_) => self.run_batch_with::<DoubleHooks>(state, id, input, batch, now, replies),
        }
    }

    /// Runs commands until one waits, the client is to be closed, or the batch is at its end or has
    /// replied enough. Says how many are done with, or nothing if the client was ended.
    fn run_batch_with<H: Hooks>(
        &self,
        state: &mut State,
        id: ClientId,
        input: &[u8],
        batch: &Batch,
        mut now: Now,
        replies: &mut Replies,
    ) -> Option<usize> {
        let client = state.clients.at(id);
        let Replies { out, whole } = replies;
        *out = std::mem::take(&mut client.out);
        *whole = out.len();
        let mut verdict = Verdict::of(client);
        let was_authenticated = client.authenticated;
        let mut count = 0;
        let mut since_clock = 0;
        state.timing.begin();
        let sent = &input[..batch.input_bytes(batch.len())];
        let mut hooks = H::begin(state, id, now, sent, out);
        while verdict == Verdict::Open && count < batch.len() && out.len() < OUTPUT_BYTES_MAX {
            if since_clock == COMMANDS_PER_CLOCK {
                since_clock = 0;
                now = self.read_clock(state, now, None).0;
                hooks.set_time(state, now, batch.input_bytes(count), out);
                serve::settle(state, now);
            }
            since_clock += 1;
            let sent = Sent::of(batch, input, count);
            let Outcome { ran, step } = hooks.execute(state, id, (count, &sent), &mut now, out);
            count += 1;
            // A command that took its time has left `now` behind.
            if let Some(spec) = ran
                && state.wants_reading_after(spec)
            {
                since_clock = 0;
                let (read, micros) = self.read_clock(state, now, ran);
                if step == Step::Done {
                    state.slot_stats.on_time(micros);
                    state.log_if_slow(id, spec, sent.request, now, micros);
                }
                now = read;
                hooks.set_time(state, now, batch.input_bytes(count), out);
            }
            serve::settle(state, now);
            let client = state.clients.get_mut(id)?;
            out.append(&mut client.out);
            *whole = out.len();
            if step == Step::Done {
                client.pushed_bytes = 0;
            }
            verdict = Verdict::of(client);
            if client.authenticated != was_authenticated {
                // It may send more from now on, which the rest is to be decoded by.
                break;
            }
        }
        if state.timing.wants_reading() {
            let State { timing, stats, .. } = state;
            timing.on_reading(now.mono, self.clock.mono(), None, stats);
        }
        hooks.end(state, batch.input_bytes(count), out);
        state.stats.on_cycle(count);
        Some(count)
    }

    /// Reads the clock for what follows, and for what ran since it read `before`. Gives how long the
    /// command took that the reading is for.
    fn read_clock(&self, state: &mut State, before: Now, ran: Option<&'static Spec>) -> (Now, u64) {
        let now = self.clock.now();
        state.begin(now);
        let State { timing, stats, .. } = state;
        let micros = timing.on_reading(before.mono, now.mono, ran, stats);
        (now, micros)
    }
}

impl State {
    /// Keeps what a client sends while its command waits, or before it has taken back what it sent then.
    /// Its connection is called once it is to take all of that.
    fn take_input(&mut self, id: ClientId, input: &[u8]) -> Executed {
        let client = self.clients.at(id);
        client.backlog.extend_from_slice(input);
        let waiting = client.backlog.len();
        client.input_bytes = waiting;
        if self.limit_input(id, waiting) {
            return Executed::GONE;
        }
        Executed {
            count: 0,
            verdict: Verdict::Waiting,
            has_replied: false,
            limits: Some(InputLimits::of(self, id)),
        }
    }
}

/// The replies to a batch while it is executed.
#[derive(Default)]
pub(crate) struct Replies {
    pub(crate) out: Vec<u8>,
    /// Up to here they belong to commands that are done with.
    whole: usize,
}

impl Replies {
    /// Gives the client what it is to hear before it hears that a command panicked.
    pub(crate) fn give_whole(mut self, state: &mut State, id: ClientId) {
        if let Some(client) = state.clients.get_mut(id) {
            self.out.truncate(self.whole);
            client.out = self.out;
        }
    }
}

/// How many commands may see one reading of the clock: it costs as much as a small command's parsing.
const COMMANDS_PER_CLOCK: usize = 64;
/// Replies of one batch after which it ends, so that nobody waits long for the lock.
const OUTPUT_BYTES_MAX: usize = 256 * 1_024;
