//! Client-side caching: who may have cached which key, and how clients hear that it changed.
//!
//! A client that asked for it with `CLIENT TRACKING` is told which keys to drop from its cache. Keys that
//! it read are remembered until they change ([`table`]); with `BCAST` nothing is remembered, and it hears
//! of all keys that begin with its prefixes. What changed is read from the list of changes that events and
//! waiting readers go by. While no client tracks, a command costs one look at whether its caller does.
//!
//! When a client hears of it:
//! - of what others change: at once, before the reply to whoever changed it.
//! - of what it changes itself: after the reply to its command, or to the whole of `EXEC`.
//! - with `BCAST`: when what was read at once is executed that changed something, in one message for each
//!   prefix.
//! - of keys that are forgotten since there are too many: before the next command, or a tenth of a second
//!   later.

mod broadcast;
mod limit;
mod send;
mod table;

use std::collections::BTreeSet;

use tailrace_protocol::Request;
use tailrace_storage::Event;
use tailrace_storage::Instant;
use tailrace_storage::Rng;

use self::broadcast::Prefixes;
use self::limit::Excess;
pub(crate) use self::table::ReadKeys;
use crate::args::Args;
use crate::client::Client;
use crate::client::ClientId;
use crate::spec::Spec;
use crate::state::State;

/// What a client asked for with `CLIENT TRACKING`. It stays when tracking ends: what is still to be told
/// goes where it said.
#[derive(Debug, Default)]
pub struct Tracking {
    /// Whether keys are tracked.
    pub is_on: bool,
    /// Which keys are.
    pub mode: Mode,
    /// Whether it does not want to hear of what it changes itself.
    pub no_loop: bool,
    /// The number of the client that hears in its place.
    pub redirect: Option<u64>,
    /// That client was found to be gone.
    pub is_redirect_broken: bool,
    /// `CLIENT CACHING` chose otherwise for the next command.
    pub is_caching: bool,
    /// What the keys begin with that it hears of, in [`Mode::Broadcast`].
    ///
    /// Invariant: the client is listed under a prefix if and only if the prefix is here.
    pub prefixes: BTreeSet<Box<[u8]>>,
}

/// Which keys a client hears of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// All that it read.
    #[default]
    Read,
    /// Those that it read with commands that followed `CLIENT CACHING YES`.
    OptIn,
    /// Those that it read, unless the command followed `CLIENT CACHING NO`.
    OptOut,
    /// All keys that begin with its prefixes.
    Broadcast,
}

impl Tracking {
    /// Whether the keys of a command that reads are remembered.
    fn remembers(&self) -> bool {
        self.is_on
            && match self.mode {
                Mode::Read => true,
                Mode::OptIn => self.is_caching,
                Mode::OptOut => !self.is_caching,
                Mode::Broadcast => false,
            }
    }
}

/// What `CLIENT TRACKING ON` asks for.
#[derive(Debug, Default)]
pub(crate) struct Wish<'a> {
    pub(crate) mode: Mode,
    pub(crate) no_loop: bool,
    pub(crate) redirect: Option<u64>,
    pub(crate) prefixes: Vec<&'a [u8]>,
}

/// All that is known of what clients cached.
#[derive(Debug)]
pub struct Caches {
    /// How many clients track.
    clients: usize,
    /// What clients read that do not want all.
    keys: ReadKeys,
    /// Who wants all keys of a prefix, and what changed of them.
    prefixes: Prefixes,
    /// What the caller is to hear after the reply to its command; `None` stands for all keys.
    pending: Vec<Option<Box<[u8]>>>,
    /// Whether storage writes down every change for this.
    is_observing: bool,
    /// What is known of keys that are too many.
    excess: Excess,
    rng: Rng,
}

impl Default for Caches {
    fn default() -> Self {
        Self {
            clients: 0,
            keys: ReadKeys::default(),
            prefixes: Prefixes::default(),
            pending: Vec::new(),
            is_observing: false,
            excess: Excess::default(),
            rng: Rng::from_seed(0),
        }
    }
}

impl Caches {
    /// How many clients track.
    pub(crate) fn clients(&self) -> usize {
        self.clients
    }

    /// The keys that were read, with who read them.
    pub(crate) fn keys(&self) -> &ReadKeys {
        &self.keys
    }

    /// How many prefixes clients hear of.
    pub(crate) fn prefix_count(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether it has to be told of every change.
    pub(crate) fn observes(&self) -> bool {
        !self.keys.is_empty() || !self.prefixes.is_empty()
    }

    /// Whether somebody is to be told something when the lock is released.
    pub(crate) fn is_observing(&self) -> bool {
        self.is_observing
    }

    /// Whether the caller is to be told something after its reply.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}

impl State {
    /// Lets a client hear of keys that it may have cached. Prefixes add to those that it has.
    pub(crate) fn start_tracking(&mut self, id: ClientId, wish: &Wish<'_>) {
        let tracking = self.clients.at(id).tracking.get_or_insert_default();
        self.caches.clients += usize::from(!tracking.is_on);
        tracking.is_on = true;
        tracking.mode = wish.mode;
        tracking.no_loop = wish.no_loop;
        tracking.redirect = wish.redirect;
        tracking.is_redirect_broken = false;
        if wish.mode == Mode::Broadcast {
            let all: &[&[u8]] = &[b""];
            let prefixes = match wish.prefixes.as_slice() {
                [] => all,
                prefixes => prefixes,
            };
            for &prefix in prefixes {
                tracking.prefixes.insert(prefix.into());
                self.caches.prefixes.insert(prefix, id);
            }
        }
        self.observe_for_caches();
    }

    /// Lets a client hear of nothing any more. What it read stays remembered until it changes, as in
    /// the reference: if it asks again, it hears of that.
    pub(crate) fn stop_tracking(&mut self, id: ClientId) {
        let Some(tracking) = &mut self.clients.at(id).tracking else {
            return;
        };
        if !tracking.is_on {
            return;
        }
        self.caches.clients -= 1;
        for prefix in &tracking.prefixes {
            self.caches.prefixes.remove(prefix, id);
        }
        **tracking = Tracking {
            redirect: tracking.redirect,
            ..Tracking::default()
        };
        self.observe_for_caches();
    }

    /// As [`Self::stop_tracking`], for a client that goes to another engine with what it asked for.
    pub(crate) fn end_tracking(&mut self, id: ClientId) -> Option<Box<Tracking>> {
        let tracking = self.clients.at(id).tracking.as_deref_mut()?;
        // What stays is what the rest is taken out of the table by.
        let kept = Tracking {
            prefixes: tracking.prefixes.clone(),
            ..*tracking
        };
        self.stop_tracking(id);
        self.clients.at(id).tracking = None;
        Some(Box::new(kept))
    }

    /// Lets a client that came from another engine hear of what it asked for there.
    pub(crate) fn resume_tracking(&mut self, id: ClientId, tracking: Tracking) {
        if tracking.is_on {
            let wish = Wish {
                mode: tracking.mode,
                no_loop: tracking.no_loop,
                redirect: tracking.redirect,
                prefixes: tracking.prefixes.iter().map(|prefix| &**prefix).collect(),
            };
            self.start_tracking(id, &wish);
        }
        self.clients.at(id).tracking = Some(Box::new(tracking));
    }

    /// Notes the keys of a command that reads, if its client is to hear of them.
    #[cold]
    pub(crate) fn remember_keys(&mut self, id: ClientId, spec: &Spec, request: Request<'_>) {
        let tracking = self.clients.at(id).tracking.as_deref();
        if !tracking.is_some_and(Tracking::remembers) {
            return;
        }
        if spec.name == "xread" && !has_streams(request) {
            return;
        }
        let Some(keys) = spec.keys_of(request) else {
            return;
        };
        let clients = &self.clients;
        for key in keys {
            let name = request.get(key.position).unwrap_or_default();
            let is_connected = |id| clients.get(id).is_some();
            self.caches.keys.insert(name, id, is_connected);
        }
        self.observe_for_caches();
    }

    /// Tells those who may have cached the key of a change: the one at `at` of those that storage wrote
    /// down.
    #[cold]
    pub(crate) fn invalidate_changed(&mut self, at: usize) {
        let changes = self.store.changes();
        let change = &changes[at];
        let other = match change.event {
            // A stream that is trimmed, too, has changed when that is done.
            Event::Xadd
                if changes
                    .get(at + 1)
                    .is_some_and(|next| next.event == Event::Xtrim) =>
            {
                return;
            }
            // Both keys change before anybody hears of either event.
            Event::RenameFrom => changes.get(at + 1).map(|next| next.key.clone()),
            event if event.invalidates() => None,
            _ => return,
        };
        // What was due is nobody's change, even if a command of the caller found it.
        let by = self.caller.filter(|_| change.event != Event::Expired);
        let key = change.key.clone();
        self.invalidate(&key, by);
        if let Some(other) = other {
            self.invalidate(&other, by);
        }
    }

    /// Tells everybody who tracks that all keys are gone, and gives what is forgotten of them.
    pub(crate) fn invalidate_all(&mut self) -> ReadKeys {
        if self.caches.clients > 0 {
            let is_on = |client: &&Client| client.tracking.as_ref().is_some_and(|own| own.is_on);
            let trackers = self.clients.iter().filter(is_on);
            let trackers: Vec<ClientId> = trackers.map(|client| client.id).collect();
            for id in trackers {
                if self.caller == Some(id) {
                    self.caches.pending.push(None);
                } else {
                    self.send_invalidation(id, None);
                }
            }
        }
        let forgotten = std::mem::take(&mut self.caches.keys);
        self.observe_for_caches();
        forgotten
    }

    /// Tells the caller what it changed of what it cached.
    #[cold]
    pub(crate) fn send_pending_invalidations(&mut self, id: ClientId) {
        for key in std::mem::take(&mut self.caches.pending) {
            self.send_invalidation(id, key.as_deref());
        }
    }

    /// Does what is due when a batch of commands is over: broadcasts what changed, unless `is_amid_input`, since
    /// more commands follow that were read at once with these.
    #[cold]
    pub(crate) fn settle_caches(&mut self, is_amid_input: bool, now: Instant) {
        if !is_amid_input {
            self.broadcast();
        }
        self.schedule_forgetting(now);
        self.observe_for_caches();
    }

    fn invalidate(&mut self, key: &[u8], by: Option<ClientId>) {
        self.caches.prefixes.note(key, by);
        if let Some(key) = self.caches.keys.remove(key) {
            self.tell_readers(&key.name, &key.readers, self.caller);
            self.observe_for_caches();
        }
    }

    /// Lets storage write down every change for as long as somebody may have to hear of it.
    fn observe_for_caches(&mut self) {
        let observes = self.caches.observes();
        if observes != self.caches.is_observing {
            self.caches.is_observing = observes;
            self.record_changes();
        }
    }
}

/// `CLIENT CACHING` chooses for the next command, or for the next transaction.
pub(crate) fn end_choice(client: &mut Client) {
    let is_about_client = |spec: &Spec| spec.name.starts_with("client|");
    if client.transaction.is_none()
        && !client.last_command.is_some_and(is_about_client)
        && let Some(tracking) = &mut client.tracking
    {
        tracking.is_caching = false;
    }
}

/// Whether an `XREAD` names streams with an ID for each. One that does not is an error, and the model looks
/// at its options here, where COMMAND GETKEYS only looks for a word.
fn has_streams(request: Request<'_>) -> bool {
    let mut args = Args::new(request, 1);
    loop {
        let skipped = if args.keyword("block") || args.keyword("count") {
            1
        } else if args.keyword("group") {
            2
        } else if args.keyword("noack") {
            0
        } else {
            break;
        };
        args.by_ref().take(skipped).for_each(drop);
    }
    args.keyword("streams") && !args.is_empty() && args.len().is_multiple_of(2)
}
