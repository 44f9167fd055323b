//! What a test double was when it started, and how it becomes that again.

use tailrace_storage::Now;
use tailrace_storage::Snapshot;

use super::held::What;
use super::rules::Rules;
use super::snapshots::ClockState;
use crate::client::ClientId;
use crate::config::Config;
use crate::serve;
use crate::spec::Flags;
use crate::state::State;

/// What a double was when it started.
pub(crate) struct Origin {
    config: Config,
    /// The port that it listened on.
    port: u16,
    data: Snapshot,
    rules: Rules,
    /// How the clock went, if that was not as the configuration says.
    clock: Option<ClockState>,
}

impl State {
    /// Notes that this is how the double starts.
    pub(crate) fn note_origin(&mut self) {
        if let Some(double) = &mut self.double {
            double.origin = Some(Box::new(Origin {
                config: Config::clone(&self.config),
                port: self.info.port,
                data: self.store.snapshot(),
                rules: double.stage.rules.lock().clone(),
                clock: None,
            }));
        }
    }

    /// Likewise, with a clock that goes like this.
    pub(super) fn note_origin_at(&mut self, clock: ClockState) {
        self.note_origin();
        let double = self.double.as_mut();
        if let Some(origin) = double.and_then(|double| double.origin.as_mut()) {
            origin.clock = Some(clock);
        }
    }

    /// Makes the double what it was when it started, but for its connections, what these have set up for themselves, and
    /// the snapshots.
    pub(crate) fn reset_double(&mut self, now: Now) {
        if let Some(double) = &mut self.double {
            double.is_paused = false;
        }
        self.end_waits(now);
        self.drop_held(now);
        self.store.stop_ledger();
        let Some(double) = &mut self.double else {
            return;
        };
        let Some(origin) = &double.origin else {
            return;
        };
        let data = origin.data.clone();
        *double.stage.rules.lock() = origin.rules.clone();
        double.readers = Default::default();
        double.outage = None;
        let clock = origin.config.settings().clock;
        double.stage.begin_clock(clock);
        if let Some(clock) = origin.clock {
            clock.set_on(&double.stage);
        }
        double.settled_calls().begin_again();
        self.begin_cluster();
        self.replace_data(data);
        self.forget_run();
    }

    /// Forgets what a process loses when it ends, besides data and clients: settings that were changed, scripts, what was
    /// counted and logged.
    pub(super) fn forget_run(&mut self) {
        let origin = self
            .double
            .as_ref()
            .and_then(|double| double.origin.as_ref());
        let Some((config, port)) = origin.map(|origin| (origin.config.clone(), origin.port)) else {
            return;
        };
        let place = |config: &Config| (config.shown("port"), config.shown("bind"));
        let has_moved = place(&config) != place(&self.config);
        *self.config = config;
        if has_moved {
            self.info.port = port;
            if let Err(error) = self.relisten(false) {
                tracing::error!("no new client can come: {error}");
            }
        }
        self.scripts.flush();
        *self.stats = Default::default();
        self.store.reset_stats();
        *self.logs = Default::default();
        self.latency = Default::default();
        self.timing = Default::default();
        self.is_active_expiry_off = false;
        self.peak_bytes = 0;
        self.apply_settings();
    }

    /// Ends all waits as if their time were up. MIGRATE goes on, as its keys are on their way.
    fn end_waits(&mut self, now: Now) {
        let parked = self.parked.iter().filter(|(_, parked)| {
            !parked.spec.flags.has(Flags::DOUBLE) && parked.spec.name != "migrate"
        });
        let mut waiters: Vec<_> = parked
            .map(|(waiter, parked)| (parked.client, *waiter))
            .collect();
        waiters.sort_by_key(|(client, _)| *client);
        for (_, waiter) in waiters {
            serve::give_up(self, waiter, now);
        }
    }

    /// Refuses the commands that faults and pauses hold, and sends the replies that faults hold.
    pub(super) fn drop_held(&mut self, now: Now) {
        let gated: Vec<ClientId> = self.gate.clear().map(|held| held.client).collect();
        self.on_gate(now.mono);
        for client in gated {
            self.say(client, NOT_EXECUTED);
        }
        let held = self
            .double
            .as_mut()
            .map(|double| double.held.take_all())
            .unwrap_or_default();
        for held in held {
            match held.what {
                What::Command(..) | What::Unseen(..) => self.say(held.client, NOT_EXECUTED),
                What::Reply(bytes) | What::Drip { bytes, .. } => self.say(held.client, &bytes),
            }
        }
    }
}

/// What clients hear of commands that were held when everything began anew.
const NOT_EXECUTED: &[u8] = b"-ERR the test double was reset before this command was executed\r\n";
