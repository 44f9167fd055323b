//! The engine: one lock, and everything that takes it.
//!
//! A connection gives a batch of whole requests; they run under one taking of the lock, with one
//! reading of the clock for many of them. Blocked readers are served within
//! the same taking, after each command. The lock is never held across an await.

mod batch;
mod hand_over;
mod lock;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use parking_lot::Mutex;
use tailrace_protocol::ProtocolError;
use tailrace_protocol::ReplyWriter;
use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tokio::sync::Notify;

pub(crate) use self::batch::Executed;
pub(crate) use self::batch::Replies;
use self::lock::Locked;
use crate::client::Client;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::clock::Clock;
use crate::input::InputLimits;
use crate::link::Link;
use crate::listener::Refusal;
use crate::script::Loan;
use crate::serve;
use crate::state::State;

/// One engine.
pub struct Engine {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Where the state is while a script runs for too long.
    loan: Arc<Loan>,
    /// Told when a deadline comes before the one that the timer waits for.
    pub(crate) earlier_deadline: Notify,
    /// Told when output waits for the end of the turn.
    pub(crate) has_output: Notify,
    /// Told when the server is to end.
    pub(crate) ending: Notify,
}

/// What the connection is to do next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Go on with the next requests.
    Open,
    /// A command waits, or the client is not heard any more: read, and ask again when woken or when
    /// something was read.
    Waiting,
    /// The client's node is a face of another engine now: go there.
    Elsewhere,
    /// Send what is queued, then close.
    Closing,
}

/// When clients are sent what is written for them.
#[derive(Clone, Copy, Debug)]
enum Sending {
    /// As soon as the lock is released.
    AtOnce,
    /// When all who are ready have had their turn, unless it is urgent.
    AtTurnEnd,
}

impl Verdict {
    pub(crate) fn of(client: &Client) -> Self {
        if client.closing && !client.is_unheard {
            Self::Closing
        } else if client.is_blocked() || client.is_unheard {
            Self::Waiting
        } else if client.is_sent_away {
            Self::Elsewhere
        } else {
            Self::Open
        }
    }
}

impl Engine {
    /// An engine around `state`.
    pub(crate) fn new(clock: Arc<dyn Clock>, state: State) -> Self {
        Self {
            clock,
            loan: state.scripts.loan(),
            state: Mutex::new(state),
            earlier_deadline: Notify::new(),
            has_output: Notify::new(),
            ending: Notify::new(),
        }
    }

    /// The clock that everything here goes by.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Runs `act` on the state, and whatever follows from it. When it returns, what clients are to be
    /// sent by that has been written, to however many.
    ///
    /// # Panics
    ///
    /// If either does; the engine refuses all commands from then on.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State, Now) -> T) -> T {
        self.with_sending(Sending::AtOnce, act)
    }

    /// Looks at the state, of which nothing follows: nobody hears that somebody looked.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    fn with_sending<T>(&self, sending: Sending, act: impl FnOnce(&mut State, Now) -> T) -> T {
        let mut guard = self.lock();
        let state = &mut *guard;
        let now = self.clock.now();
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            state.begin(now);
            let result = act(state, now);
            serve::settle(state, now);
            self.run_resumed(state, now);
            result
        }));
        let result = result.unwrap_or_else(|panic| {
            state.note_fault();
            std::panic::resume_unwind(panic)
        });
        self.release(guard, None, sending, now);
        result
    }

    /// Adds a client that `make` builds, unless `refuse` has a reason not to.
    pub(crate) fn connect(
        &self,
        refuse: impl FnOnce(&State) -> Option<Refusal>,
        make: impl FnOnce(ClientId, Now) -> Client,
    ) -> Result<(ClientId, InputLimits), Refusal> {
        self.with_sending(Sending::AtTurnEnd, |state, now| {
            if let Some(refusal) = refuse(state) {
                let is_seen = matches!(refusal, Refusal::Says(_));
                state.stats.rejected_connections += u64::from(is_seen);
                return Err(refusal);
            }
            state.stats.connections += 1;
            let id = state.clients.insert(|id| make(id, now));
            let client = state.clients.at(id);
            client.authenticated = state.config.settings().requirepass.is_none();
            tracing::debug!("{client} connected");
            state.schedule_idle(now.mono);
            state.look_where(id);
            Ok((id, InputLimits::of(state, id)))
        })
    }

    /// Removes a client, whatever it was doing.
    pub(crate) fn disconnect(&self, id: ClientId) {
        self.with_sending(Sending::AtTurnEnd, |state, _| state.remove_client(id));
    }

    /// Gives back what a client sent while its command waited and what was not executed, unless it waits.
    pub(crate) fn take_backlog(&self, id: ClientId) -> (Verdict, Vec<u8>) {
        self.with_sending(Sending::AtTurnEnd, |state, _| {
            state.clients.get_mut(id).map_or(GONE, take_back)
        })
    }

    /// What the connection of a client that waits for nothing is to do next.
    pub(crate) fn look_at(&self, id: ClientId) -> Verdict {
        self.with_sending(Sending::AtTurnEnd, |state, _| {
            let client = state.clients.get(id);
            client.map_or(Verdict::Closing, Verdict::of)
        })
    }

    /// The client will send nothing more. If its command still waits, that is in vain, since nothing
    /// may be given to a client that has left: it is removed. If not, what was taken is given back.
    pub(crate) fn on_input_end(&self, id: ClientId) -> (Verdict, Vec<u8>) {
        self.with(|state, _| {
            let Some(client) = state.clients.get_mut(id) else {
                return GONE;
            };
            if client.is_blocked() || client.is_unheard {
                state.remove_client(id);
                return GONE;
            }
            take_back(client)
        })
    }

    /// Answers a breach of the protocol, and says what is to become of the connection: it is closed,
    /// unless its client wanted no replies and nothing `is_sent` to it.
    pub(crate) fn on_protocol_error(
        &self,
        id: ClientId,
        error: ProtocolError,
        is_sent: bool,
    ) -> Verdict {
        self.with(|state, _| {
            let Some(client) = state.clients.get_mut(id) else {
                return Verdict::Closing;
            };
            tracing::debug!("{client} broke the protocol: {error}");
            client.closing = true;
            if client.reply_mode == ReplyMode::On {
                let mut reply = ReplyWriter::new(&mut client.out, client.version);
                reply.error(error.message());
                state.touch(id);
            } else {
                client.is_unheard = !is_sent && client.unsent_bytes() == 0;
            }
            Verdict::of(state.clients.at(id))
        })
    }

    /// Does what has become due.
    pub(crate) fn on_time(&self) -> Option<Instant> {
        let mut next = None;
        self.with(|state, now| {
            if state.fault.is_some() || state.is_paused() {
                return;
            }
            if state.scripts.is_busy() {
                // Nothing happens before the script is over.
                next = Some(now.mono + BUSY_LOOK);
                return;
            }
            state.do_due(now);
            self.run_resumed(state, now);
            next = state.next_deadline(now);
        });
        next
    }

    /// Sends what waits for a client, which is about to be closed.
    pub(crate) fn send_to(&self, id: ClientId) {
        self.with(|state, _| state.touch(id));
    }

    /// Sends a slice of the output that waits. Whether more is left.
    pub(crate) fn send_slice(&self, links: &mut Vec<Arc<Link>>) -> bool {
        let mut guard = self.lock();
        let now = self.clock.now();
        let has_more = guard.hand_over_slice(now, links);
        drop(guard);
        links.drain(..).for_each(|link| link.flush());
        has_more
    }

    /// Releases the lock, and does what must not be done under it: sends what is to be sent now, and tells
    /// those who wait for the end of a turn, for a deadline sooner than the ones they know, or for the end.
    fn release(&self, mut guard: Locked<'_>, caller: Option<ClientId>, sending: Sending, now: Now) {
        if guard.double.is_some() {
            guard.check_watches(now);
            self.run_resumed(&mut guard, now);
        }
        if guard.caches.is_observing() {
            let client = caller.and_then(|id| guard.clients.get(id));
            let is_amid_input = client.is_some_and(|client| client.is_amid_input);
            guard.settle_caches(is_amid_input, now.mono);
        }
        let mut links = Vec::new();
        match sending {
            Sending::AtTurnEnd => guard.hand_over_urgent(now, &mut links),
            Sending::AtOnce => guard.hand_over_all(now, &mut links),
        }
        let wants_telling = guard.outbox.wants_telling();
        let deadlines = guard.deadlines();
        let known = std::mem::replace(&mut guard.told_deadlines, deadlines);
        let is_ending = guard.is_ending;
        let cluster = guard.cluster.as_mut();
        let others = cluster.map_or_else(Vec::new, |cluster| cluster.take_news());
        let parked = guard.parked.len();
        if let Some(double) = &mut guard.double {
            double.on_released(parked);
        }
        drop(guard);
        if wants_telling {
            self.has_output.notify_one();
        }
        links.iter().for_each(|link| link.flush());
        if deadlines.come_before(known) {
            self.earlier_deadline.notify_one();
        }
        if is_ending {
            self.ending.notify_one();
        }
        for other in others {
            // It looks for what is new by itself.
            other.with(|_, _| ());
        }
    }
}

/// What the engine says of a client that is not there any more.
const GONE: (Verdict, Vec<u8>) = (Verdict::Closing, Vec::new());

/// Gives back what was taken while a command waited, unless one still does.
fn take_back(client: &mut Client) -> (Verdict, Vec<u8>) {
    match Verdict::of(client) {
        Verdict::Waiting => (Verdict::Waiting, Vec::new()),
        verdict => (verdict, std::mem::take(&mut client.backlog)),
    }
}

impl State {
    /// A command panicked, now or earlier: its data is in doubt, so nothing is answered any more.
    pub(crate) fn on_fault(&mut self, id: ClientId) -> Executed {
        let text = format!("ERR {}", self.note_fault());
        if let Some(client) = self.clients.get_mut(id) {
            client.closing = true;
            ReplyWriter::new(&mut client.out, client.version).error(text);
        }
        Executed::GONE
    }

    /// Keeps that a command panicked, unless an earlier one did.
    fn note_fault(&mut self) -> &str {
        let command = crate::panic::command();
        self.fault.get_or_insert_with(|| {
            let fault = format!("a fault in the command '{command}' stopped this server");
            tracing::error!("{fault}: every command is refused from now on");
            fault
        })
    }

    /// Does what has become due by this instant, but for keys.
    pub(crate) fn do_due(&mut self, now: Now) {
        self.release_due(now);
        self.stats.on_cycle(0);
        serve::expire(self, now);
        self.upkeep(now.mono);
        self.forget_keys_in_time(now.mono);
        serve::settle(self, now);
    }

    /// Sets the instant of what follows, and removes keys that are due by then.
    ///
    /// While a script runs on and on, it stays the script's instant.
    pub(crate) fn begin(&mut self, now: Now) {
        if self.scripts.is_busy() {
            return;
        }
        self.store.set_now(now.unix());
        if self.is_paused() {
            return;
        }
        self.on_gate(now.mono);
        if !self.is_active_expiry_off {
            self.expire_slice(now);
        }
        self.store.pack_slice();
        if self.stats.rates.is_due(now.mono) {
            self.peak_bytes = self.peak_bytes.max(self.limited_bytes());
            let totals = self.stats.totals(now.mono);
            self.stats.rates.keep(totals);
        }
    }
}

/// How long the timer sleeps while a script is over its time.
const BUSY_LOOK: Millis = Millis(50);
