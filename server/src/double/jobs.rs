//! What a test asked for that takes more than one taking of the lock.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tailrace_protocol::ReplyWriter;
use tailrace_storage::Millis;
use tailrace_storage::Now;

use crate::call::Call;
use crate::call::Flow;
use crate::call::Waiting;
use crate::client::ClientId;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::serve;
use crate::state::State;

/// What is to be done, in the order in which it was asked for.
#[derive(Default)]
pub(crate) struct Jobs {
    queue: VecDeque<Job>,
    /// How many of the driver's waits have to hear of what happens.
    watching: usize,
    /// So many blocked clients make the clock jump to what is due next, if any number does.
    pub(crate) auto: Option<usize>,
}

/// Something to do, and who waits for it.
pub(crate) struct Job {
    pub(crate) awaited: Awaited,
    pub(crate) task: Task,
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// To let time pass, until then.
    Advance(Until),
    /// To let this much time pass from deadline to deadline, each time until `clients` wait again, for
    /// which they have `patience`, by the host's clock.
    Run {
        by: Millis,
        clients: usize,
        patience: Millis,
    },
    /// To let a server go on that was stopped.
    Resume,
}

/// How far time is to move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// By so much.
    Passed(Millis),
    /// To where the wall shows this many milliseconds.
    Wall(u64),
    /// To the so-and-so-many-th deadline from now.
    Deadlines(u64),
}

/// Where the result of a job is left for the command that waits for it.
#[derive(Default)]
struct Ticket(Mutex<Option<Outcome>>);

/// What came of a job.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Ok,
    /// What the wall shows now, in milliseconds.
    At(u64),
    /// Why it was not done, or not to its end.
    Failed(String),
}

impl Jobs {
    /// The first of them.
    pub(crate) fn take(&mut self) -> Option<Job> {
        self.queue.pop_front()
    }

    /// Whether the driver has to hear of what happens.
    pub(crate) fn is_watching(&self) -> bool {
        self.watching > 0 || self.auto.is_some()
    }

    /// The driver begins to wait for what happens.
    pub(crate) fn watch(&mut self) {
        self.watching += 1;
    }

    /// The driver does not wait any more.
    pub(crate) fn unwatch(&mut self) {
        self.watching -= 1;
    }
}

/// Leaves `task` to the driver; the call waits for its end.
pub(crate) fn leave(call: &mut Call<'_>, task: Task) -> Flow {
    let awaited = Awaited::by(call.id);
    let flow = awaited.wait();
    if let Some(double) = &mut call.state.double {
        double.jobs.queue.push_back(Job { awaited, task });
        double.bell.notify_one();
    }
    flow
}

/// A result that a client waits for.
pub(crate) struct Awaited {
    client: ClientId,
    ticket: Arc<Ticket>,
}

impl Awaited {
    /// By this client.
    pub(crate) fn by(client: ClientId) -> Self {
        Self {
            client,
            ticket: Arc::default(),
        }
    }

    /// What the client's command does until the result is there.
    pub(crate) fn wait(&self) -> Flow {
        Flow::Wait(Box::new(Pending(Arc::clone(&self.ticket))))
    }

    /// Whether anybody still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.ticket) > 1
    }

    /// Gives the result to who waits for it, unless nobody does any more.
    pub(crate) fn finish(&self, state: &mut State, now: Now, outcome: Outcome) {
        let client = state.clients.get(self.client);
        let waiter = client.and_then(|client| client.waiter);
        if let (true, Some(waiter)) = (self.is_awaited(), waiter) {
            *self.ticket.0.lock() = Some(outcome);
            serve::give_up(state, waiter, now);
        }
    }
}

/// Waits for a job.
struct Pending(Arc<Ticket>);

impl Waiting for Pending {
    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        match self.0.0.lock().take() {
            Some(Outcome::Ok) => reply.ok(),
            Some(Outcome::At(millis)) => reply.unsigned(millis),
            Some(Outcome::Failed(reason)) => reply.error(format!("ERR {reason}")),
            None => reply.error(CommandError::from(ClientError::Unblocked).wire()),
        }
    }
}
