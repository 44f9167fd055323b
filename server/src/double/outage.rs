//! A restart as clients see it: connections end, for a while none can be made, and then data are loaded.
//!
//! ```text
//! RESTART -> down -> loading -> over
//! ```
//!
//! Both times go by the clock of the test. The connection that asked for the restart stays, as somebody has to move that
//! clock. Should it end while the clock stands still, the server is up again: nobody else can reach it.

use tailrace_protocol::Request;
use tailrace_storage::Compat;
use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;

use crate::client::ClientId;
use crate::commands::flush::Free;
use crate::double::clock::Pace;
use crate::sockets;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// When a server that was restarted is back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outage {
    /// Nothing once data are loaded.
    down_until: Option<Instant>,
    /// Not before the former.
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
        match self.down_until {
            Some(until) if now < until => Some(Phase::Down(until)),
            _ => (now < self.loading_until).then_some(Phase::Loading),
        }
    }

    /// When the next phase begins.
    pub(crate) fn next_deadline(self) -> Instant {
        self.down_until.unwrap_or(self.loading_until)
    }

    /// What is left of it.
    fn after(self, now: Instant) -> Option<Self> {
        let down_until = self.down_until.filter(|until| now < *until);
        let is_over = down_until.is_none() && self.loading_until <= now;
        (!is_over).then_some(Self { down_until, ..self })
    }
}

impl State {
    /// What a restarted server is doing, while that is not to serve.
    pub(crate) fn outage(&self, now: Instant) -> Option<Phase> {
        self.double.as_ref()?.outage?.phase(now)
    }

    /// Lets a restart go further if it is time for that.
    pub(super) fn pass_outage(&mut self, now: Instant) {
        if let Some(double) = &mut self.double {
            double.outage = double.outage.and_then(|outage| outage.after(now));
        }
    }

    /// Lets the server be up again if it is down, its clock stands still, and its last client leaves, as the one is that
    /// asked for that.
    pub(crate) fn end_lonely_outage(&mut self) {
        let is_last = self.clients.len() == 1;
        let now = self.clock.mono();
        if let Some(double) = &mut self.double
            && let Some(outage) = double.outage
            && is_last
            && let Some(down_until) = outage.down_until
            && double.stage.clock.pace() == Pace::Frozen
        {
            let loading_micros = outage.loading_until.0 - down_until.0;
            let loading = Outage {
                down_until: None,
                loading_until: Instant(now.0 + loading_micros),
            };
            double.outage = loading.after(now);
        }
    }

    /// Restarts the server as its clients see it; the connection of `asker` stays, if a client asks.
    pub(crate) fn restart(
        &mut self,
        asker: Option<ClientId>,
        fate: Fate,
        (down, loading): (Millis, Millis),
        now: Now,
    ) {
        let others = self.clients.iter().map(|client| client.id);
        let others: Vec<ClientId> = others.filter(|id| Some(*id) != asker).collect();
        others.into_iter().for_each(|id| self.kill(id));
        if let Some(asker) = asker {
            let watches = &mut self.clients.at(asker).watches;
            watches.broken |= !watches.keys.is_empty();
        }
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
            let outage = Outage {
                down_until: Some(down_until),
                loading_until: down_until + loading,
            };
            double.outage = outage.after(now.mono);
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
