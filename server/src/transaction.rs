//! What `MULTI` queued and what `WATCH` watches.

use std::collections::HashMap;

use tailrace_protocol::OwnedRequest;

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
    /// Queues a command.
    fn push(&mut self, spec: &'static Spec, request: OwnedRequest) {
        self.flags = self.flags | spec.flags;
        let request_args = request.as_request();
        self.bytes += request_args.byte_len() + request_args.len() * size_of::<usize>();
        self.queue.push((spec, request));
    }

    /// Drops what is queued, as it will not be executed.
    fn forget(&mut self) {
        let aborted = self.aborted;
        *self = Self {
            aborted,
            ..Self::default()
        };
    }
}

/// The keys that one client watches.
#[derive(Debug, Default)]
pub struct Watches {
    /// Database and key, in the order of watching; each once.
    pub keys: Vec<(usize, Box<[u8]>)>,
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
        let watches = &mut self.clients.at(id).watches;
        let is_watched = |(at, watched): &(usize, Box<[u8]>)| *at == db && **watched == *key;
        if watches.broken || watches.keys.iter().any(is_watched) {
            return;
        }
        watches.keys.push((db, key.into()));
        self.watch_list.insert(db, key, id);
        self.store.observe(db, key);
    }

    /// Forgets what a client watches, broken or not.
    pub(crate) fn unwatch(&mut self, id: ClientId) {
        self.clients.at(id).watches.broken = false;
        self.let_go(id);
    }

    fn let_go(&mut self, id: ClientId) {
        let keys = std::mem::take(&mut self.clients.at(id).watches.keys);
        for (db, key) in &keys {
            self.watch_list.remove(*db, key, id);
            self.store.unobserve(*db, key);
        }
    }

    /// Queues a command of a client between `MULTI` and `EXEC`, unless nothing of it will be executed anyway.
    pub(crate) fn queue(&mut self, id: ClientId, spec: &'static Spec, request: OwnedRequest) {
        let client = self.clients.at(id);
        if let Some(transaction) = &mut client.transaction
            && !transaction.aborted
            && !client.watches.broken
        {
            transaction.push(spec, request);
        }
    }

    /// Lets a client's next `EXEC` refuse, if it is between `MULTI` and that.
    pub(crate) fn abort(&mut self, id: ClientId) {
        if let Some(transaction) = &mut self.clients.at(id).transaction {
            transaction.aborted = true;
            transaction.forget();
        }
    }

    /// Drops what a client queued, and forgets what it watches.
    pub(crate) fn discard(&mut self, id: ClientId) {
        self.clients.at(id).transaction = None;
        self.unwatch(id);
    }

    /// Notes that a key changed, for those who watch it. They need not watch any longer, nor keep what they queued.
    pub(crate) fn break_watches(&mut self, db: usize, key: &[u8]) {
        for id in self.watch_list.watchers(db, key).to_vec() {
            let Some(client) = self.clients.get_mut(id) else {
                continue;
            };
            client.watches.broken = true;
            if let Some(transaction) = &mut client.transaction {
                transaction.forget();
            }
            self.let_go(id);
        }
    }
}
