//! What a handler works with, and what it may answer besides a reply.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Instant;
use tailrace_storage::Now;
use tailrace_storage::Store;
use tailrace_storage::Wants;

use crate::client::Client;
use crate::client::ClientId;
use crate::error::CommandError;
use crate::spec::Spec;
use crate::state::State;

/// One call of a command: everything behind the engine's lock, and who calls.
pub struct Call<'a> {
    /// Everything behind the engine's lock.
    pub(crate) state: &'a mut State,
    /// Who calls.
    pub(crate) id: ClientId,
    /// What is called.
    pub(crate) spec: &'static Spec,
    /// The instant of the call; the whole call sees one.
    pub(crate) now: Now,
    /// The caller's database.
    pub(crate) db: usize,
}

impl Call<'_> {
    /// The data.
    pub(crate) fn store(&mut self) -> &mut Store {
        &mut self.state.store
    }

    /// Who calls.
    pub(crate) fn client(&mut self) -> &mut Client {
        self.state.clients.at(self.id)
    }

    /// Whether the call runs inside of `EXEC`, where nothing ever waits.
    pub(crate) fn in_exec(&self) -> bool {
        self.state.in_exec
    }
}

/// What happens after a handler.
pub enum Flow {
    /// The reply is complete.
    Done,
    /// Nothing was written. The command waits, and is attempted again when it may be answered.
    Wait(Box<dyn Waiting>),
}

/// A parsed command that waits for somebody else's change, or for its deadline.
pub trait Waiting: Send {
    /// What is worth another attempt: nothing, unless it waits for keys. Asked once.
    fn wants(&self, db: usize) -> Wants {
        Wants {
            db,
            ..Wants::default()
        }
    }

    /// When to give up: never, unless it says so. Asked once.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Tries to answer. `Ok(false)` means that there is still nothing to say, and that nothing was
    /// written.
    fn attempt(
        &mut self,
        _call: &mut Call<'_>,
        _reply: &mut ReplyWriter<'_>,
    ) -> Result<bool, CommandError> {
        Ok(false)
    }

    /// Writes the reply of a command that waited in vain.
    fn give_up(&mut self, call: &mut Call<'_>, reply: &mut ReplyWriter<'_>);

    /// Told for how many microseconds it kept everybody else from running, where only others know.
    fn note_took(&mut self, _: u64) {}

    /// Whether it counts as called even if its client leaves, and once more if CLIENT UNBLOCK ends it with an error.
    fn counts_when_over(&self) -> bool {
        false
    }

    /// For how many microseconds it kept everybody else from running.
    fn took_micros(&self) -> u64 {
        0
    }
}
