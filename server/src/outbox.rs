//! Whose output is to be handed to their links, and when that happens.
//!
//! What commands write for clients stays in each client's `out` until the turn ends, that is, until all
//! tasks that were ready have been polled. Then one write for each client sends what all of those commands
//! had for it, as at the end of a turn of the reference's event loop. What has become much, and what has
//! waited for long, is sent at once; so is everything as long as turns are short, since there is nothing to
//! put together then.
//!
//! Replies go first. Messages may be for very many clients, each of which costs a system call, so these are
//! written to in rounds: to a slice of them after each turn, and while commands keep coming, no round
//! begins before as much time has passed as it will take. What is published meanwhile goes along.

use std::collections::VecDeque;
use std::sync::Arc;

use tailrace_storage::Instant;
use tailrace_storage::Now;

use crate::client::Client;
use crate::client::ClientId;
use crate::engine::Engine;
use crate::link::Link;
use crate::patience::Patience;
use crate::state::State;

/// When a client's `out` is to be handed to its link.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Due {
    /// Nothing waits.
    #[default]
    Never,
    /// In a round of messages.
    InRound,
    /// When the turn ends.
    Soon,
}

/// Whose `out` is to be handed over.
///
/// Invariant: a client that is due is listed, among `replies` if that is soon. One may be listed that is
/// not due any more, or has left.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    replies: Vec<ClientId>,
    /// Since when some of the replies wait, as far as somebody looked.
    replies_since: Option<Instant>,
    messages: VecDeque<ClientId>,
    messages_since: Option<Instant>,
    /// To how many of those who are listed for messages the round still goes that has begun.
    round: usize,
    /// Somebody's output is too much to wait.
    is_urgent: bool,
    /// How many batches this turn had, and the one before.
    batches: usize,
    batches_before: usize,
    /// The task that sends was told of this turn, or is not done.
    is_told: bool,
}

impl Outbox {
    /// Lists a client that was sent a reply.
    pub(crate) fn add_reply(&mut self, client: &mut Client) {
        self.is_urgent |= client.out.len() >= WAITING_BYTES_MAX;
        if client.due != Due::Soon {
            client.due = Due::Soon;
            self.replies.push(client.id);
        }
    }

    /// Lists a client that was sent a message.
    #[inline]
    pub(crate) fn add_message(&mut self, client: &mut Client) {
        if client.out.len() >= WAITING_BYTES_MAX {
            self.add_reply(client);
        } else if client.due == Due::Never {
            client.due = Due::InRound;
            self.messages.push_back(client.id);
        }
    }

    /// Whether there is something that is not to wait for the end of the turn.
    fn is_urgent(&mut self, now: Instant) -> bool {
        if self.replies.is_empty() {
            return false;
        }
        let since = *self.replies_since.get_or_insert(now);
        self.is_urgent
            || self.batches.max(self.batches_before) <= BATCHES_FEW
            || self.replies.len() >= WAITING_REPLIES_MAX
            || now.0.saturating_sub(since.0) >= WAITING_MICROS_MAX
    }

    /// Whether the task that sends is to be told that there will be the end of a turn; it is then taken as
    /// told.
    pub(crate) fn wants_telling(&mut self) -> bool {
        let is_empty = self.replies.is_empty() && self.messages.is_empty();
        (self.batches > 0 || !is_empty) && !std::mem::replace(&mut self.is_told, true)
    }

    /// To how many of those who are listed for messages it is time to write, now that a turn has ended.
    fn slice(&mut self, now: Instant) -> usize {
        if self.round == 0 && self.is_round_due(now) {
            self.round = self.messages.len();
        }
        let slice = self.round.min(SLICE);
        self.round -= slice;
        slice
    }

    fn is_round_due(&mut self, now: Instant) -> bool {
        let count = self.messages.len();
        let since = *self.messages_since.get_or_insert(now);
        let is_idle = self.replies.is_empty();
        let takes_micros = count as u64 * WRITE_MICROS;
        let is_due =
            is_idle || count <= LISTENERS_FEW || now.0.saturating_sub(since.0) >= takes_micros;
        if is_due {
            self.messages_since = None;
        }
        is_due
    }
}

impl State {
    /// Notes that a client's `out` is to be handed to its link, if it is still connected.
    pub(crate) fn touch(&mut self, id: ClientId) {
        if let Some(client) = self.clients.get_mut(id) {
            self.outbox.add_reply(client);
        }
    }

    /// A batch is over: hands over what is not to wait for the end of the turn. The links are to be flushed
    /// once the lock is released.
    pub(crate) fn hand_over_urgent(&mut self, now: Now, links: &mut Vec<Arc<Link>>) {
        self.outbox.batches += 1;
        if self.outbox.is_urgent(now.mono) {
            if self.outbox.messages.len() <= LISTENERS_FEW {
                self.hand_over_messages(LISTENERS_FEW, now, links);
            }
            self.hand_over_replies(now, links);
        }
    }

    /// Hands over everything.
    pub(crate) fn hand_over_all(&mut self, now: Now, links: &mut Vec<Arc<Link>>) {
        self.hand_over_replies(now, links);
        self.hand_over_messages(usize::MAX, now, links);
        self.outbox.round = 0;
        self.outbox.messages_since = None;
    }

    /// Hands over what is due at the end of a turn. Whether something is left.
    pub(crate) fn hand_over_slice(&mut self, now: Now, links: &mut Vec<Arc<Link>>) -> bool {
        let slice = self.outbox.slice(now.mono);
        self.outbox.batches_before = std::mem::take(&mut self.outbox.batches);
        self.hand_over_replies(now, links);
        self.hand_over_messages(slice, now, links);
        // Whoever has output for somebody from now on tells, if nothing is left.
        self.outbox.is_told = !self.outbox.messages.is_empty();
        self.outbox.is_told
    }

    fn hand_over_replies(&mut self, now: Now, links: &mut Vec<Arc<Link>>) {
        let mut replies = std::mem::take(&mut self.outbox.replies);
        self.outbox.replies_since = None;
        self.outbox.is_urgent = false;
        links.extend(
            replies
                .drain(..)
                .filter_map(|id| self.hand_over(id, Due::Soon, now)),
        );
        self.outbox.replies = replies;
    }

    fn hand_over_messages(&mut self, listed_max: usize, now: Now, links: &mut Vec<Arc<Link>>) {
        for _ in 0..listed_max.min(self.outbox.messages.len()) {
            if let Some(id) = self.outbox.messages.pop_front() {
                links.extend(self.hand_over(id, Due::InRound, now));
            }
        }
    }

    /// Hands a client's output to its link if that is `due`, and ends a client that lets too much of it
    /// wait.
    fn hand_over(&mut self, id: ClientId, due: Due, now: Now) -> Option<Arc<Link>> {
        let client = self.clients.get_mut(id)?;
        if client.due != due {
            return None;
        }
        client.due = Due::Never;
        let link = Arc::clone(&client.link);
        if client.out.is_empty() {
            return Some(link);
        }
        client.active_at = now.mono;
        client.bytes_out += client.out.len() as u64;
        self.stats.on_write(client.out.len());
        let waiting = link.enqueue(&mut client.out);
        self.limit_output(id, waiting, now.mono);
        Some(link)
    }
}

/// Sends what waits whenever a turn ends, for as long as the engine runs.
pub(crate) async fn run(engine: Arc<Engine>, mut patience: Patience) {
    let mut links = Vec::new();
    loop {
        patience.wait(engine.has_output.notified()).await;
        // Everybody else who is ready goes first.
        tokio::task::yield_now().await;
        while engine.send_slice(&mut links) {
            tokio::task::yield_now().await;
        }
    }
}

/// Output of one client from which on it is sent at once: it is worth a write of its own, and to let more
/// of it wait would only cost memory.
const WAITING_BYTES_MAX: usize = 16 * 1_024;
/// Clients with replies from which on these are sent at once, so that they have something to go on with.
const WAITING_REPLIES_MAX: usize = 64;
/// For how long a reply waits for the end of a turn, in microseconds, short of what one batch takes.
const WAITING_MICROS_MAX: u64 = 200;
/// Batches of a turn up to which it is a short one.
const BATCHES_FEW: usize = 3;
/// To how many clients messages are written before others have their turn.
const SLICE: usize = 64;
/// What writing to a client takes, roughly.
const WRITE_MICROS: u64 = 5;
/// Messages for so many clients never wait for a round.
const LISTENERS_FEW: usize = 16;
