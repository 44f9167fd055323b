//! What a test asked for that takes more than one taking of the lock.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tokio::sync::oneshot;

use super::stage::Stage;
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
    /// Nobody does them any more.
    is_closed: bool,
    /// How many of the driver's waits have to hear of what happens.
    watching: usize,
    /// So many blocked clients make the clock jump to what is due next, if any number does.
    pub(crate) auto: Option<usize>,
    /// A command has moved the clock, and not all nodes have done what became due by that.
    pub(crate) is_time_ahead: bool,
}

/// Something to do, and who waits for it.
pub(crate) struct Job {
    pub(crate) awaited: Awaited,
    /// Where the one is connected.
    pub(crate) engine: usize,
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
pub(crate) struct Ticket(Mutex<Option<Outcome>>);

/// What came of a job.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Ok,
    /// What the wall shows now, in milliseconds.
    At(u64),
    /// How much it was.
    Count(u64),
    /// This, as it stands on the wire.
    Written(Vec<u8>),
    /// Why it was not done, or not to its end.
    Failed(String),
}

impl Outcome {
    /// What `write` writes for a client that speaks `version`.
    pub(crate) fn written(
        version: Version,
        write: impl FnOnce(&mut ReplyWriter<'_>) -> Result<(), String>,
    ) -> Self {
        let mut out = Vec::new();
        match write(&mut ReplyWriter::new(&mut out, version)) {
            Ok(()) => Self::Written(out),
            Err(reason) => Self::Failed(reason),
        }
    }
}

impl Jobs {
    /// The first of them.
    pub(crate) fn take(&mut self) -> Option<Job> {
        self.queue.pop_front()
    }

    /// Whoever waits for one that is not done waits in vain, and is told so.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        self.queue.clear();
    }

    /// Whether nobody does them any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
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
    let (awaited, flow) = Awaited::by(call.id);
    if let Some(double) = &call.state.double {
        let stage = &double.stage;
        let engine = double.engine;
        let job = Job {
            awaited,
            engine,
            task,
        };
        stage.jobs.lock().queue.push_back(job);
        stage.bell.notify_one();
    }
    flow
}

/// Leaves `task` to the driver for the program that this runs in.
pub(crate) fn leave_from_outside(stage: &Stage, task: Task) -> oneshot::Receiver<Outcome> {
    let (awaited, outcome) = Awaited::by_program();
    let mut jobs = stage.jobs.lock();
    if !jobs.is_closed {
        jobs.queue.push_back(Job {
            awaited,
            engine: 0,
            task,
        });
    }
    stage.bell.notify_one();
    outcome
}

/// A result that somebody waits for.
pub(crate) enum Awaited {
    Client { id: ClientId, ticket: Arc<Ticket> },
    Program(Mutex<Option<oneshot::Sender<Outcome>>>),
}

impl Awaited {
    /// By this client, whose command waits meanwhile.
    pub(crate) fn by(id: ClientId) -> (Self, Flow) {
        let ticket = Arc::<Ticket>::default();
        let flow = Flow::Wait(Box::new(Pending(Arc::clone(&ticket))));
        (Self::Client { id, ticket }, flow)
    }

    /// By the program that this runs in.
    pub(crate) fn by_program() -> (Self, oneshot::Receiver<Outcome>) {
        let (sender, receiver) = oneshot::channel();
        (Self::Program(Mutex::new(Some(sender))), receiver)
    }

    /// Whether anybody still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        match self {
            Self::Client { ticket, .. } => Arc::strong_count(ticket) > 1,
            Self::Program(sender) => {
                let sender = sender.lock();
                sender.as_ref().is_some_and(|sender| !sender.is_closed())
            }
        }
    }

    /// Gives the result to who waits for it, unless nobody does any more.
    pub(crate) fn finish(&self, state: &mut State, now: Now, outcome: Outcome) {
        match self {
            Self::Client { id, ticket } => {
                let client = state.clients.get(*id);
                let waiter = client.and_then(|client| client.waiter);
                if let (true, Some(waiter)) = (self.is_awaited(), waiter) {
                    *ticket.0.lock() = Some(outcome);
                    serve::give_up(state, waiter, now);
                }
            }
            Self::Program(sender) => {
                if let Some(sender) = sender.lock().take() {
                    // Whoever dropped the answer wants none.
                    let _ = sender.send(outcome);
                }
            }
        }
    }
}

/// Waits for a job.
struct Pending(Arc<Ticket>);

impl Waiting for Pending {
    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        match self.0.0.lock().take() {
            Some(Outcome::Ok) => reply.ok(),
            Some(Outcome::At(number) | Outcome::Count(number)) => reply.unsigned(number),
            Some(Outcome::Written(bytes)) => reply.raw(&bytes),
            Some(Outcome::Failed(reason)) => reply.error(format!("ERR {reason}")),
            None => reply.error(CommandError::from(ClientError::Unblocked).wire()),
        }
    }
}
