//! A frozen clock that each command moves on a little.

use std::sync::Arc;

use tailrace_protocol::Request;
use tailrace_storage::Now;

use crate::client::ClientId;
use crate::clock::Clock;
use crate::command_table::Lookup;
use crate::spec::Flags;
use crate::state::State;

impl State {
    /// Moves the clock on before a command of a client, if a test wants that, and does what becomes due on the way.
    /// Gives the new time. Other nodes of a cluster are told, and do what is due there afterwards.
    pub(crate) fn tick(&mut self, id: ClientId, request: Request<'_>) -> Option<Now> {
        let double = self.double.as_ref()?;
        let by = double.stage.tick();
        if by.0 == 0 {
            return None;
        }
        let is_still = double.is_paused || self.scripts.is_busy();
        if is_still || request.is_empty() {
            return None;
        }
        if let Lookup::Found(spec) = self.commands.look_up(request)
            && spec.flags.has(Flags::DOUBLE)
        {
            return None;
        }
        let stage = Arc::clone(&double.stage);
        let clock = &stage.clock;
        let end = clock.now().mono + by;
        // Its client is here, however long that takes.
        self.clients.at(id).active_at = end;
        while let Some(next) = self.next_deadline(clock.now()).filter(|next| *next <= end) {
            clock.advance_to(next);
            self.be_at(clock.now());
        }
        clock.advance_to(end);
        let now = clock.now();
        self.be_at(now);
        if !stage.is_alone() {
            stage.jobs.lock().is_time_ahead = true;
            stage.bell.notify_one();
        }
        Some(now)
    }

    fn be_at(&mut self, now: Now) {
        self.begin(now);
        self.do_due(now);
    }
}
