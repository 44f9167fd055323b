//! What `MULTI` queued and what `WATCH` watches.

use std::collections::HashMap;

use tailrace_protocol::OwnedRequest;
use tailrace_protocol::Request;
use tailrace_storage::Event;

use crate::client::ClientId;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// The commands queued since `MULTI`.
#[derive(Debug, Default)]
pub struct Transaction {
    /// In the order in which they were sent.
    pub queue: Vec<(&'static Spec, OwnedRequest)>,
    /// A command was refused, so `EXEC` will refuse.
    pub aborted: bool,
    /// The flags of all queued commands together.
    pub flags: Flags,
    /// Bytes of the queued arguments and of pointers to them, which the reference counts as well.
    pub bytes: usize,
}

impl Transaction {
    /// Queues a command, which does what `flags` say.
    pub fn push(&mut self, spec: &'static Spec, flags: Flags, request: OwnedRequest) {
        self.flags = self.flags | flags;
        let request_args = request.as_request();
        self.bytes += request_args.byte_len() + request_args.len() * size_of::<usize>();
        self.queue.push((spec, request));
    }

    /// Drops what was queued, as it will not be executed.
    pub fn clear(&mut self) {
        *self = Self {
            aborted: self.aborted,
            ..Self::default()
        };
    }
}

/// The keys that one client watches.
#[derive(Debug, Default)]
pub struct Watches {
    /// Database and key, and whether it was there and not due. Otherwise it is no change that it goes.
    pub keys: HashMap<(usize, Box<[u8]>), bool>,
    /// One of them changed, so `EXEC` will answer null.
    pub broken: bool,
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
    /// Lets a client's next `EXEC` depend on a key.
    pub(crate) fn watch(&mut self, id: ClientId, db: usize, key: &[u8]) {
        let client = self.clients.at(id);
        client.has_transacted = true;
        let watches = &mut client.watches;
        let watched = (db, Box::from(key));
        if watches.broken || watches.keys.contains_key(&watched) {
            return;
        }
        let was_alive = self.store.peek(db, key).is_some();
        watches.keys.insert(watched, was_alive);
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
        let is_past = |((db, key), was_alive): (&(usize, Box<[u8]>), &bool)| {
            *was_alive && self.store.is_due(*db, key)
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
            let watches = &self.clients.at(id).watches;
            let was_alive = watches.keys.get(&(db, Box::from(key)));
            if only_goes && was_alive == Some(&false) {
                continue;
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
            if let Some(was_alive) = keys.get_mut(&(db, Box::from(key))) {
                *was_alive = true;
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
            transaction.push(spec, flags, request.to_owned());
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
