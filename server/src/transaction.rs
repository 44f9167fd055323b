//! What `MULTI` queued and what `WATCH` watches.

use std::collections::HashMap;

use tailrace_protocol::OwnedRequests;
use tailrace_protocol::Request;
use tailrace_storage::Event;

use crate::client::ClientId;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// The commands queued since `MULTI`.
#[derive(Debug, Default)]
pub struct Transaction {
    specs: Vec<&'static Spec>,
    /// As many as there are `specs`.
    requests: OwnedRequests,
    /// A command was refused, so `EXEC` will refuse.
    pub aborted: bool,
    /// The flags of all queued commands together.
    pub flags: Flags,
    /// Bytes of the queued arguments and of pointers to them, which the reference counts as well.
    pub bytes: usize,
}

impl Transaction {
    /// Queues a command, which does what `flags` say.
    pub fn push(&mut self, spec: &'static Spec, flags: Flags, request: Request<'_>) {
        self.flags = self.flags | flags;
        self.bytes += request.byte_len() + request.len() * size_of::<usize>();
        self.specs.push(spec);
        self.requests.push(request);
    }

    /// How many commands are queued.
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// The commands in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Spec, Request<'_>)> {
        self.specs.iter().copied().zip(self.requests.iter())
    }

    /// Drops what was queued, as it will not be executed.
    pub fn clear(&mut self) {
        *self = Self {
            aborted: self.aborted,
            ..Self::default()
        };
    }

    /// Makes room for another transaction of what this one took, unless that is much.
    fn emptied(mut self: Box<Self>) -> Option<Box<Self>> {
        if self.requests.heap_bytes() > SPARE_BYTES_MAX {
            return None;
        }
        self.specs.clear();
        self.requests.clear();
        *self = Self {
            specs: std::mem::take(&mut self.specs),
            requests: std::mem::take(&mut self.requests),
            ..Self::default()
        };
        Some(self)
    }
}

/// What is kept of a transaction that is over, for the next one.
const SPARE_BYTES_MAX: usize = 16 * 1_024;

/// The keys that one client watches.
#[derive(Debug, Default)]
pub struct Watches {
    /// Database and key, and how it is.
    pub keys: HashMap<(usize, Box<[u8]>), Watched>,
    /// One of them changed, so `EXEC` will answer null.
    pub broken: bool,
}

/// How a watched key is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Watched {
    /// It was not there, so it is no change that it goes.
    Missing,
    /// It was due and not removed yet, which is no change either.
    Due,
    /// It was due, and RESTORE replaced it without a look, as REPLACE tells it to. The reference takes it for
    /// the key that was due, and misses what happens to it.
    Replaced,
    /// It is there.
    Alive,
}

/// Who watches which key.
#[derive(Debug, Default)]
pub struct WatchList {
    by_key: HashMap<(usize, Box<[u8]>), Vec<ClientId>>,
}

impl WatchList {
    /// Adds a watcher of a key.
    pub fn insert(&mut self, db: usize, key: &[u8], client: ClientId) {
        let watchers = self.by_key.entry((db, key.into())).or_default();
        watchers.push(client);
    }

    /// Removes a watcher of a key.
    pub fn remove(&mut self, db: usize, key: &[u8], client: ClientId) {
        let entry = (db, Box::from(key));
        if let Some(watchers) = self.by_key.get_mut(&entry) {
            watchers.retain(|&watcher| watcher != client);
            if watchers.is_empty() {
                self.by_key.remove(&entry);
            }
        }
    }

    /// Who watches a key.
    pub fn watchers(&self, db: usize, key: &[u8]) -> &[ClientId] {
        if self.by_key.is_empty() {
            return &[];
        }
        self.by_key
            .get(&(db, Box::from(key)))
            .map_or(&[], Vec::as_slice)
    }

    /// How many keys are watched.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether no key is watched.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
}

impl State {
    /// Lets a client queue commands from now on.
    pub(crate) fn begin_transaction(&mut self, id: ClientId) {
        let transaction = self.spare_transaction.take().unwrap_or_default();
        let client = self.clients.at(id);
        client.has_transacted = true;
        client.transaction = Some(transaction);
    }

    /// Takes back the memory of a transaction that is over.
    pub(crate) fn end_transaction(&mut self, transaction: Box<Transaction>) {
        self.spare_transaction = transaction.emptied();
    }

    /// Lets a client's next `EXEC` depend on a key.
    pub(crate) fn watch(&mut self, id: ClientId, db: usize, key: &[u8]) {
        let client = self.clients.at(id);
        client.has_transacted = true;
        let watches = &mut client.watches;
        let watched = (db, Box::from(key));
        if watches.broken || watches.keys.contains_key(&watched) {
            return;
        }
        let found = match self.store.peek(db, key) {
            Some(_) => Watched::Alive,
            None if self.store.is_due(db, key) => Watched::Due,
            None => Watched::Missing,
        };
        watches.keys.insert(watched, found);
        self.watch_list.insert(db, key, id);
        self.store.observe(db, key);
    }

    /// Forgets what a client watches, broken or not.
    pub(crate) fn unwatch(&mut self, id: ClientId) {
        let watches = std::mem::take(&mut self.clients.at(id).watches);
        for (db, key) in watches.keys.keys() {
            self.watch_list.remove(*db, key, id);
            self.store.unobserve(*db, key);
        }
    }

    /// Whether a client's next `EXEC` is off: a watched key changed, or became due and is only not
    /// removed yet.
    pub(crate) fn is_watch_broken(&mut self, id: ClientId) -> bool {
        let watches = &self.clients.at(id).watches;
        let is_past = |((db, key), found): (&(usize, Box<[u8]>), &Watched)| {
            *found == Watched::Alive && self.store.is_due(*db, key)
        };
        watches.broken || watches.keys.iter().any(is_past)
    }

    /// Drops what a client queued, and forgets what it watches.
    pub(crate) fn discard(&mut self, id: ClientId) {
        self.clients.at(id).transaction = None;
        self.unwatch(id);
    }

    /// Notes that a key changed, for those who watch it. What they queued and what else they watch
    /// does not matter any more, and is forgotten; but when a whole database changes, the reference goes through what
    /// is watched, and so leaves that as it is.
    pub(crate) fn break_watches(&mut self, db: usize, key: &[u8], event: Event) {
        let only_goes = matches!(event, Event::Expired | Event::Flushed | Event::SwappedOut);
        let is_of_all = matches!(event, Event::Flushed | Event::SwappedOut | Event::SwappedIn);
        for id in self.watch_list.watchers(db, key).to_vec() {
            let keys = &mut self.clients.at(id).watches.keys;
            if let Some(found) = keys.get_mut(&(db, Box::from(key))) {
                match (*found, event) {
                    (Watched::Missing, Event::Expired)
                    | (Watched::Due | Watched::Replaced, Event::Expired | Event::Del) => {
                        *found = Watched::Missing;
                        continue;
                    }
                    (Watched::Missing | Watched::Due, _) if only_goes => continue,
                    // What it is overwritten by is told next.
                    (Watched::Due, Event::Overwritten) => continue,
                    (Watched::Due, Event::Restore) => {
                        *found = Watched::Replaced;
                        // The reference looks at nobody behind.
                        return;
                    }
                    (Watched::Replaced, _) if !is_of_all => return,
                    _ => {}
                }
            }
            if !is_of_all {
                self.unwatch(id);
            }
            let client = self.clients.at(id);
            client.watches.broken = true;
            if let Some(transaction) = &mut client.transaction {
                transaction.clear();
            }
        }
    }

    /// Notes that a key came into being, which breaks nothing, but that it goes does from now on.
    pub(crate) fn note_watched(&mut self, db: usize, key: &[u8]) {
        for id in self.watch_list.watchers(db, key).to_vec() {
            let keys = &mut self.clients.at(id).watches.keys;
            let found = keys.get_mut(&(db, Box::from(key)));
            if let Some(found @ Watched::Missing) = found {
                *found = Watched::Alive;
            }
        }
    }

    /// Queues a command of a client that is in a transaction, unless that will not be executed anyway.
    pub(crate) fn queue(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        flags: Flags,
        request: Request<'_>,
    ) {
        let client = self.clients.at(id);
        let is_broken = client.watches.broken;
        if let Some(transaction) = &mut client.transaction
            && !transaction.aborted
            && !is_broken
        {
            transaction.push(spec, flags, request);
        }
    }

    /// Lets a transaction, if there is one, end in an error.
    pub(crate) fn abort(&mut self, id: ClientId) {
        if let Some(transaction) = &mut self.clients.at(id).transaction {
            transaction.aborted = true;
            transaction.clear();
        }
    }
}
