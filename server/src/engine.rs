//! The engine: one lock, and everything that takes it.
//!
//! A connection gives a batch of whole requests; they run under one taking of the lock, with one
//! reading of the clock for up to [`COMMANDS_PER_CLOCK`] of them. Blocked readers are served within
//! the same taking, after each command. The lock is never held across an await.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use parking_lot::Mutex;
use tailrace_protocol::Batch;
use tailrace_protocol::ProtocolError;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Instant;
use tailrace_storage::Now;
use tokio::sync::Notify;

use crate::client::Client;
use crate::client::ClientId;
use crate::clock::Clock;
use crate::dispatch;
use crate::dispatch::Outcome;
use crate::dispatch::Step;
use crate::link::Link;
use crate::serve;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// One engine.
pub struct Engine {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Told when a deadline comes before the one that the timer waits for.
    pub(crate) earlier_deadline: Notify,
    /// Told when the server is to end.
    pub(crate) ending: Notify,
}

/// What the connection is to do next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Go on with the next requests.
    Open,
    /// A command waits: read, but give nothing until woken or until something was read.
    Waiting,
    /// The gate is closed: give the rest again when woken.
    Held,
    /// Send what is queued, then close.
    Closing,
}

/// What came of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// How many of its requests are done with; one that waits is.
    pub(crate) count: usize,
    pub(crate) verdict: Verdict,
    pub(crate) limits: InputLimits,
}

/// What a client may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputLimits {
    pub(crate) authenticated: bool,
    pub(crate) bulk_bytes_max: usize,
    pub(crate) input_bytes_max: usize,
}

impl Engine {
    /// An engine around `state`.
    pub(crate) fn new(clock: Arc<dyn Clock>, state: State) -> Self {
        Self {
            clock,
            state: Mutex::new(state),
            earlier_deadline: Notify::new(),
            ending: Notify::new(),
        }
    }

    /// The clock that everything here goes by.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Runs `act` on the state, and whatever follows from it.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State, Now) -> T) -> T {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let now = self.clock.now();
        let deadline = state.next_deadline(now);
        state.begin(now);
        let result = act(state, now);
        serve::settle(state, now);
        let links = state.collect(now);
        self.note_deadline(state, now, deadline);
        drop(guard);
        flush(&links);
        result
    }

    /// Adds a client.
    pub(crate) fn connect(&self, make: impl FnOnce(ClientId, Now) -> Client) -> ClientId {
        self.with(|state, now| {
            state.stats.connections += 1;
            state.clients.insert(|id| make(id, now))
        })
    }

    /// Removes a client, whatever it was doing.
    pub(crate) fn disconnect(&self, id: ClientId) {
        self.with(|state, _| {
            if let Some(waiter) = state.clients.get(id).and_then(|client| client.waiter) {
                serve::abandon(state, waiter);
            }
            state.discard(id);
            state.unsubscribe_all(id);
            state.clients.remove(id);
        });
    }

    /// The client will send nothing more. Whether a command of its waits, which then never ends.
    pub(crate) fn on_input_end(&self, id: ClientId) -> bool {
        self.with(|state, _| {
            let waiter = state.clients.at(id).waiter.take();
            if let Some(waiter) = waiter {
                serve::abandon(state, waiter);
            }
            waiter.is_some()
        })
    }

    /// Answers a breach of the protocol. The connection is to be closed after it.
    pub(crate) fn on_protocol_error(&self, id: ClientId, error: ProtocolError) {
        self.with(|state, _| {
            let client = state.clients.at(id);
            client.closing = true;
            let mut reply = ReplyWriter::new(&mut client.out, client.version);
            reply.error(error.message());
            state.touch(id);
        });
    }

    /// Does what has become due.
    pub(crate) fn on_time(&self) -> Option<Instant> {
        let mut next = None;
        self.with(|state, now| {
            let held = state.gate.on_time(now.mono);
            state.wake_all(held);
            serve::expire(state, now);
            next = state.next_deadline(now);
        });
        next
    }

    /// Executes the requests of `batch` from the first on, and flushes what they caused.
    ///
    /// A panic leaves the data in doubt: it is reported, and the engine refuses all that follows.
    pub(crate) fn execute(
        &self,
        id: ClientId,
        input: &[u8],
        batch: &Batch,
        received: usize,
    ) -> Executed {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let now = self.clock.now();
        let deadline = state.next_deadline(now);
        let executed = std::panic::catch_unwind(AssertUnwindSafe(|| {
            state.stats.bytes_in += received as u64;
            self.execute_locked(state, id, input, batch, received, now)
        }));
        let executed = match executed {
            Ok(executed) => executed,
            Err(_) => state.on_fault(id),
        };
        let links = state.collect(now);
        let own = state.hand_over(id, now);
        self.note_deadline(state, now, deadline);
        let ending = state.shutdown.is_some();
        drop(guard);
        if let Some(own) = own {
            own.flush();
        }
        flush(&links);
        if ending {
            self.ending.notify_one();
        }
        executed
    }

    fn execute_locked(
        &self,
        state: &mut State,
        id: ClientId,
        input: &[u8],
        batch: &Batch,
        received: usize,
        mut now: Now,
    ) -> Executed {
        if state.fault.is_some() {
            return state.on_fault(id);
        }
        state.begin(now);
        serve::settle(state, now);
        let client = state.clients.at(id);
        client.active_at = now.wall;
        client.bytes_in += received as u64;
        let mut out = std::mem::take(&mut client.out);
        let mut verdict = match client.waiter {
            Some(_) => Verdict::Waiting,
            None => Verdict::Open,
        };
        let mut count = 0;
        let mut since_clock = 0;
        let slow_above = state.config.settings().slowlog_log_slower_than_us;
        state.timing.begin(slow_above);
        while verdict == Verdict::Open && count < batch.len() && out.len() < OUTPUT_BYTES_MAX {
            if since_clock == COMMANDS_PER_CLOCK {
                since_clock = 0;
                now = self.read_clock(state, now, None).0;
            }
            since_clock += 1;
            let request = batch.request(input, count);
            let Outcome { step, ran } = dispatch::execute(state, id, request, now, &mut out);
            serve::settle(state, now);
            // A command that took its time has left `now` behind.
            if let Some(spec) = ran
                && state.timing.on_ran(spec)
            {
                since_clock = 0;
                let (read, micros) = self.read_clock(state, now, ran);
                if slow_above.is_some_and(|above| micros >= above) {
                    state.log_slow(id, spec, request, now, micros);
                }
                now = read;
            }
            let client = state.clients.at(id);
            verdict = match step {
                Step::Waits => Verdict::Waiting,
                Step::Held => Verdict::Held,
                Step::Done if client.closing || client.killed => Verdict::Closing,
                Step::Done => Verdict::Open,
            };
            count += usize::from(step != Step::Held);
        }
        if state.timing.wants_reading() {
            self.read_clock(state, now, None);
        }
        let limits = InputLimits::of(state, id);
        let done_bytes = match count {
            0 => 0,
            count => batch.input_end(count - 1),
        };
        let client = state.clients.at(id);
        client.out = out;
        // Whoever ends the wait wakes the connection only if it has something left to do.
        client.held = match verdict {
            Verdict::Waiting => done_bytes < input.len(),
            Verdict::Held => true,
            Verdict::Open | Verdict::Closing => false,
        };
        Executed {
            count,
            verdict,
            limits,
        }
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

    fn note_deadline(&self, state: &State, now: Now, before: Option<Instant>) {
        let after = state.next_deadline(now);
        if after.is_some_and(|after| before.is_none_or(|before| after < before)) {
            self.earlier_deadline.notify_one();
        }
    }
}

impl InputLimits {
    pub(crate) fn of(state: &mut State, id: ClientId) -> Self {
        let settings = state.config.settings();
        let (bulk_bytes_max, input_bytes_max) = (
            settings.proto_max_bulk_len,
            settings.client_query_buffer_limit,
        );
        Self {
            authenticated: state.clients.at(id).authenticated,
            bulk_bytes_max,
            input_bytes_max,
        }
    }
}

impl State {
    /// A command panicked, now or earlier: its data is in doubt, so nothing is answered any more.
    fn on_fault(&mut self, id: ClientId) -> Executed {
        let command = crate::panic::command();
        let fault = self.fault.get_or_insert_with(|| {
            format!("a fault in the command '{command}' stopped this server")
        });
        let text = format!("ERR {fault}");
        let limits = InputLimits::of(self, id);
        let client = self.clients.at(id);
        client.closing = true;
        ReplyWriter::new(&mut client.out, client.version).error(text);
        Executed {
            count: 0,
            verdict: Verdict::Closing,
            limits,
        }
    }

    /// Sets the instant of what follows, and removes keys that are due by then.
    fn begin(&mut self, now: Now) {
        self.store.set_now(now.unix());
        self.store.expire_due(EXPIRE_SLICE);
        if self.stats.rates.is_due(now.mono) {
            self.peak_bytes = self.peak_bytes.max(self.store.bytes() as u64);
            let totals = self.stats.totals(now.mono);
            self.stats.rates.keep(totals);
        }
    }

    /// Keeps a command that took long.
    #[cold]
    fn log_slow(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
        at: Now,
        micros: u64,
    ) {
        if spec.flags.has(Flags::SKIP_COMMANDLOG) {
            return;
        }
        let client = self.clients.at(id);
        self.slow_log
            .push(request, client, &self.config, at.wall, micros);
    }
}

fn flush(links: &[Arc<Link>]) {
    for link in links {
        link.flush();
    }
}

/// How many commands may see one reading of the clock: it costs as much as a small command's parsing.
const COMMANDS_PER_CLOCK: usize = 64;
/// Replies of one batch after which it ends, so that nobody waits long for the lock.
const OUTPUT_BYTES_MAX: usize = 256 * 1_024;
/// Keys removed at a time when many expire together; the rest read as missing meanwhile.
const EXPIRE_SLICE: usize = 1_000;
