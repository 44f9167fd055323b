//! A restart as clients see it: connections end, for a while none can be made, and then data are loaded.
//!
//! ```text
//! RESTART -> down -> loading -> over
//! ```
//!
//! Both times go by the clock of the test. The connection that asked for the restart stays, as somebody has to move that
//! clock.

use tailrace_protocol::Request;
use tailrace_storage::Compat;
use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;

use crate::client::ClientId;
use crate::commands::flush::Free;
use crate::sockets;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// When a server that was restarted is back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outage {
    down_until: Instant,
    loading_until: Instant,
}

/// What a server that was restarted is doing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// Nobody is served. There is none until this instant.
    Down(Instant),
    /// Commands are refused, but for those that need no data.
    Loading,
}

/// What becomes of the data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    Keep,
    Lose,
    LoseGroups,
}

impl Outage {
    fn phase(self, now: Instant) -> Option<Phase> {
        if now < self.down_until {
            Some(Phase::Down(self.down_until))
        } else if now < self.loading_until {
            Some(Phase::Loading)
        } else {
            None
        }
    }

    /// When the next phase begins, if there is one.
    pub(crate) fn next_deadline(self, now: Instant) -> Option<Instant> {
        let ends = [self.down_until, self.loading_until].into_iter();
        ends.filter(|end| *end > now).min()
    }
}

impl State {
    /// What a restarted server is doing, while that is not to serve.
    pub(crate) fn outage(&self, now: Instant) -> Option<Phase> {
        self.double.as_ref()?.outage?.phase(now)
    }

    /// Restarts the server as its clients see it; the connection of `asker` stays.
    pub(crate) fn restart(
        &mut self,
        asker: ClientId,
        fate: Fate,
        (down, loading): (Millis, Millis),
        now: Now,
    ) {
        let others = self.clients.iter().map(|client| client.id);
        let others: Vec<ClientId> = others.filter(|id| *id != asker).collect();
        others.into_iter().for_each(|id| self.kill(id));
        let watches = &mut self.clients.at(asker).watches;
        watches.broken |= !watches.keys.is_empty();
        self.drop_held(now);
        match fate {
            Fate::Keep => {}
            Fate::Lose => {
                let flushed = self.store.flush_all();
                Free::Later.drop(flushed.len(), flushed);
            }
            Fate::LoseGroups => {
                self.store.destroy_all_groups();
            }
        }
        let forgotten = self.invalidate_all();
        Free::Later.drop(forgotten.len(), forgotten);
        self.forget_run();
        self.info.run_id = sockets::random_id();
        self.info.replication_id = sockets::random_id();
        self.info.started_at = now.wall;
        let down_until = now.mono + down;
        if let Some(double) = &mut self.double {
            double.is_paused = false;
            double.outage = Some(Outage {
                down_until,
                loading_until: down_until + loading,
            });
        }
    }

    /// Why a command may not run while a restarted server does not serve, if it may not.
    pub(crate) fn refused_by_outage(
        &self,
        id: ClientId,
        spec: Option<&'static Spec>,
        request: Request<'_>,
        now: Now,
    ) -> Option<String> {
        let phase = self.outage(now.mono)?;
        match phase {
            Phase::Down(until) => {
                let left = until.0.saturating_sub(now.mono.0);
                let at = (now.wall.0 + left).div_ceil(1_000);
                Some(format!(
                    "ERR TD RESTART keeps the server down until {at}; TD CLOCK TO {at} brings it back"
                ))
            }
            Phase::Loading => {
                let spec = spec?;
                let is_let_in = self.clients.get(id)?.authenticated;
                let is_looked_at = is_let_in && spec.fits(request.len());
                (is_looked_at && !spec.flags.has(Flags::LOADING)).then(|| self.loading_error())
            }
        }
    }

    fn loading_error(&self) -> String {
        let name = match self.store.settings().compat {
            Compat::Valkey => "Valkey",
            Compat::Redis => "Redis",
        };
        format!("LOADING {name} is loading the dataset in memory")
    }
}
