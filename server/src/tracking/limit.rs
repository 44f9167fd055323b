//! Forgets keys when more are remembered than `tracking-table-max-keys` allows.
//!
//! As in the reference that is seen to before each command, and every tenth of a second; whoever may have
//! cached such a key is told to drop it.

use tailrace_storage::Instant;
use tailrace_storage::Millis;

use super::Caches;
use crate::client::ClientId;
use crate::state::State;

/// What is known of keys that are too many.
#[derive(Debug, Default)]
pub(super) struct Excess {
    /// When it is time to see to them, whether a command comes or not.
    due: Option<Instant>,
    /// How often in a row not all could be forgotten at once.
    rounds: usize,
}

impl Caches {
    /// Whether too many keys are remembered; a limit of 0 is none. Nobody cares while nobody tracks.
    fn exceeds(&self, keys_max: usize) -> bool {
        self.clients > 0 && keys_max > 0 && self.keys.len() > keys_max
    }

    /// When [`State::forget_keys_in_time`] has something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.excess.due
    }
}

impl State {
    /// Forgets keys if there are too many, before a command of `by` if there is one. It works harder the longer
    /// there are.
    #[cold]
    pub(crate) fn forget_keys(&mut self, by: Option<ClientId>) {
        let keys_max = self.config.settings().tracking_table_keys_max;
        if !self.caches.exceeds(keys_max) {
            self.caches.excess.rounds = 0;
            return;
        }
        // Whose command is to run hears of it before the reply.
        let caller = self.caller.take();
        for _ in 0..FORGOTTEN_AT_ONCE * (self.caches.excess.rounds + 1) {
            let Caches { keys, rng, .. } = &mut *self.caches;
            if let Some(key) = keys.remove_any(rng) {
                self.tell_readers(&key.name, &key.readers, by);
            }
            if !self.caches.exceeds(keys_max) {
                break;
            }
        }
        self.caller = caller;
        self.caches.excess.rounds += 1;
        self.observe_for_caches();
    }

    /// Forgets keys if it is time to, and says so for when it is the next time.
    pub(crate) fn forget_keys_in_time(&mut self, now: Instant) {
        if self.caches.excess.due.is_some_and(|due| due <= now) {
            self.caches.excess.due = None;
            self.forget_keys(None);
        }
        self.schedule_forgetting(now);
    }

    /// Has too many keys be forgotten soon, even if no command comes.
    pub(super) fn schedule_forgetting(&mut self, now: Instant) {
        let keys_max = self.config.settings().tracking_table_keys_max;
        self.caches.excess.due = match self.caches.excess.due {
            _ if !self.caches.exceeds(keys_max) => None,
            None => Some(now + PERIOD),
            due => due,
        };
    }
}

/// How many keys are forgotten at once.
const FORGOTTEN_AT_ONCE: usize = 100;
/// How often the reference sees to it by itself.
const PERIOD: Millis = Millis(100);
