//! Clients that go on after a wait.
//!
//! What a client sends while its command waits is kept in its backlog. Once the wait is over, the
//! client is in line for its turn, and the turns come in the order in which the waits ended, after
//! the batch that ended them: so the order in which several clients go on is that of the reference,
//! whichever of their tasks the runtime would wake first. A turn is one batch from the backlog; what
//! is left after it goes back to the connection, which executes it as it does any input.

use std::panic::AssertUnwindSafe;

use tailrace_protocol::Batch;
use tailrace_protocol::Decoder;
use tailrace_storage::Now;

use crate::client::Client;
use crate::client::ClientId;
use crate::dispatch;
use crate::dispatch::Step;
use crate::double::hooks;
use crate::engine::Engine;
use crate::engine::Replies;
use crate::engine::Verdict;
use crate::gate::Held;
use crate::input::InputLimits;
use crate::serve;
use crate::state::State;

/// Whose turn it is.
#[derive(Debug)]
pub(crate) enum Resumed {
    /// A client whose wait is over and that has a backlog.
    Waiter(ClientId),
    /// A client whose command the gate held.
    Held(Held),
}

impl Engine {
    /// Gives those their turn whose waits are over, and those whose waits end by that.
    #[inline]
    pub(crate) fn run_resumed(&self, state: &mut State, now: Now) {
        if !state.resumed.is_empty() {
            self.run_all_resumed(state, now);
        }
    }

    fn run_all_resumed(&self, state: &mut State, now: Now) {
        if state.scripts.is_busy() {
            return;
        }
        while let Some(resumed) = state.resumed.pop_front() {
            let id = match resumed {
                Resumed::Waiter(id) => id,
                Resumed::Held(held) => {
                    let id = held.client;
                    run_held(state, held, now);
                    serve::settle(state, now);
                    id
                }
            };
            self.run_backlog(state, id, now);
        }
    }

    fn run_backlog(&self, state: &mut State, id: ClientId, now: Now) {
        let Some(client) = state.clients.get_mut(id) else {
            return;
        };
        if Verdict::of(client) == Verdict::Open && !client.backlog.is_empty() {
            let backlog = std::mem::take(&mut client.backlog);
            let mut batch = std::mem::take(&mut state.resumed_batch);
            let used = self.run_guarded(state, id, &backlog, &mut batch, now);
            state.resumed_batch = batch;
            state.touch(id);
            if let Some(client) = state.clients.get_mut(id) {
                client.set_backlog(&backlog[used..]);
            }
        }
        if let Some(client) = state.clients.get_mut(id) {
            hand_back(client);
        }
    }

    /// Executes a batch from the front of `backlog` and says how many bytes are done with.
    fn run_guarded(
        &self,
        state: &mut State,
        id: ClientId,
        backlog: &[u8],
        batch: &mut Batch,
        now: Now,
    ) -> usize {
        let limits = InputLimits::of(state, id);
        let mut decoder = Decoder::default();
        decoder.set_limits(limits.decoder());
        // A breach of the protocol is found again by the connection, which answers it.
        let _ = decoder.decode(backlog, batch, limits.batch());
        let mut replies = Replies::default();
        let count = std::panic::catch_unwind(AssertUnwindSafe(|| {
            self.run_batch(state, id, backlog, batch, now, &mut replies)
        }));
        match count {
            Ok(Some(count)) => {
                state.clients.at(id).out = replies.out;
                batch.input_bytes(count)
            }
            Ok(None) => backlog.len(),
            Err(_) => {
                replies.give_whole(state, id);
                state.on_fault(id);
                backlog.len()
            }
        }
    }
}

/// Executes a command that the gate held, which may find it closed again.
fn run_held(state: &mut State, held: Held, now: Now) {
    let Held {
        client: id,
        request,
        request_bytes,
    } = held;
    let Some(client) = state.clients.get_mut(id) else {
        return;
    };
    client.gated = false;
    client.is_let_go = false;
    client.argument_bytes = 0;
    let mut out = std::mem::take(&mut client.out);
    let request = request.as_request();
    let began = state.clock.mono();
    let outcome = match state.double {
        None => dispatch::execute(state, id, request, request_bytes, now, &mut out),
        Some(_) => hooks::execute_held(state, id, request, request_bytes, now, &mut out),
    };
    if let Some(spec) = outcome.ran
        && outcome.step == Step::Done
    {
        let micros = state.micros_since(began);
        state.stats.by_command.on_measured(spec, micros * 1_000);
        state.slot_stats.on_time(micros);
        state.log_if_slow(id, spec, request, now, micros);
    }
    let Some(client) = state.clients.get_mut(id) else {
        return;
    };
    client.out.splice(..0, out);
    if outcome.step == Step::Done {
        client.pushed_bytes = 0;
    }
    state.touch(id);
}

/// Calls the connection of a client that has had its turn, if it is to go on.
fn hand_back(client: &Client) {
    match Verdict::of(client) {
        Verdict::Closing => client.link.close(),
        Verdict::Open if !client.backlog.is_empty() => client.link.call(),
        Verdict::Elsewhere => client.link.call(),
        Verdict::Open | Verdict::Waiting => {}
    }
}
