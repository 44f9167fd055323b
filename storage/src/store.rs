//! The facade: all that can be done to the data, by database and key.
//!
//! Its methods are the only way to change anything. Each finds the key (a key that is due is not found and
//! removed), checks the type, acts, keeps count of the memory and writes down what changed, in the order in
//! which the reference says so. What fails has changed nothing.

mod bits;
mod gathered;
mod group_errors;
mod groups;
mod keys;
mod ledger;
mod packing;
mod payload;
mod relocate;
mod slots;
mod snapshot;
mod streams;
mod strings;
mod waiting;

use self::packing::Unpacked;

pub use self::gathered::MissingDatabase;
pub use self::group_errors::{CreateGroupError, GroupError};
pub use self::groups::GroupStart;
pub use self::keys::{KeyFacts, Stored};
pub use self::payload::{KeyExists, RestoreOptions};
pub use self::relocate::{Flushed, NoSuchKey};
pub use self::slots::{MovedKey, SlotStep};
pub use self::snapshot::{Contents, ContentsKey, Snapshot};
pub use self::streams::{AddError, MissingStream, SetStreamIdError};
pub use self::strings::{
    IncrementError, SetCondition, SetExpiry, SetOptions, SetOutcome, StringError,
};

use crate::change::{Change, Changes};
use crate::compat::Compat;
use crate::event::Event;
use crate::keyspace::{Keyspace, Record, RecordIndex};
use crate::node::NodeLimits;
use crate::rng::Rng;
use crate::stream::Stream;
use crate::strings::StringValue;
use crate::time::UnixMillis;
use crate::value::{Value, ValueKind, WrongType};

/// Everything that a server stores.
///
/// Databases are numbered from zero. Every method panics if it is given one that does not exist; that a
/// number from a client is in range is checked where it is parsed, against [`Store::databases`].
#[derive(Debug)]
pub struct Store {
    keyspaces: Vec<Keyspace>,
    /// Invariant: no key has a deadline in a database from this one on. Most servers need look at none.
    deadline_dbs: usize,
    /// They know the time, too, so that a ledger learns it with what happened.
    changes: Changes,
    rng: Rng,
    stats: Stats,
    settings: Settings,
    /// Streams whose closed nodes are to be packed.
    unpacked: Unpacked,
    no_touch: bool,
    keeps_texts: bool,
    expiry_paused: bool,
    sees_due: bool,
}

/// What is configured.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// When a node of a stream is full.
    pub node_limits: NodeLimits,
    /// A string does not grow beyond this (proto-max-bulk-len).
    pub string_bytes_max: usize,
    /// Keys that are due stay until somebody writes to them (import-mode).
    pub is_importing: bool,
    /// Whose behaviour counts where the references differ.
    pub compat: Compat,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            node_limits: NodeLimits::default(),
            string_bytes_max: 512 * 1_024 * 1_024,
            is_importing: false,
            compat: Compat::Valkey,
        }
    }
}

/// What is counted about lookups, and about what comes from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Keys that were removed because they were due.
    pub expired: u64,
    /// Those of them that nobody had asked for.
    pub expired_unasked: u64,
    /// Nodes of payloads that were looked at.
    pub payload_nodes: u64,
}

impl Store {
    /// Creates a store with this many empty databases. `seed` decides what [`Store::random_key`] picks.
    #[must_use]
    pub fn new(databases: usize, seed: u64, settings: Settings) -> Self {
        let mut keyspaces = Vec::new();
        keyspaces.resize_with(databases, Keyspace::new);
        Self {
            keyspaces,
            deadline_dbs: 0,
            changes: Changes::default(),
            rng: Rng::from_seed(seed),
            stats: Stats::default(),
            settings,
            unpacked: Unpacked::default(),
            no_touch: false,
            keeps_texts: false,
            expiry_paused: false,
            sees_due: false,
        }
    }

    /// Sets the time of all that follows. It may step back.
    pub fn set_now(&mut self, now: UnixMillis) {
        self.changes.set_now(now);
    }

    /// Sets whether what follows leaves the access times of keys alone (CLIENT NO-TOUCH).
    pub const fn set_no_touch(&mut self, no_touch: bool) {
        self.no_touch = no_touch;
    }

    /// Sets whether what follows comes from a script. What Valkey is given by one to set stays text, even if it reads
    /// like a number, which shows in OBJECT ENCODING.
    pub const fn set_from_script(&mut self, is_from_script: bool) {
        self.keeps_texts = is_from_script && matches!(self.settings.compat, Compat::Valkey);
    }

    /// Sets whether keys that are due stay, although they read as missing (CLIENT PAUSE).
    pub const fn set_expiry_paused(&mut self, paused: bool) {
        self.expiry_paused = paused;
    }

    /// Sets whether what follows comes from a source of imported data, for which no key is ever due while
    /// importing goes on (CLIENT IMPORT-SOURCE).
    pub const fn set_import_source(&mut self, is_source: bool) {
        self.sees_due = is_source && self.settings.is_importing;
    }

    /// Returns what is configured, to be changed.
    pub const fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sets the counters back to zero.
    pub fn reset_stats(&mut self) {
        self.stats = Stats::default();
    }

    /// Asks for the changes of a key. Ask as often as you like, and take back each with [`Store::unobserve`].
    pub fn observe(&mut self, db: usize, key: &[u8]) {
        self.changes.observe(db, key);
    }

    /// Takes back one call of [`Store::observe`].
    pub fn unobserve(&mut self, db: usize, key: &[u8]) {
        self.changes.unobserve(db, key);
    }

    /// Sets whether the changes of all keys are asked for.
    pub fn set_record_all(&mut self, record_all: bool) {
        self.changes.set_record_all(record_all);
    }

    /// Returns the changes since they were last taken.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.changes.list()
    }

    /// Moves the changes since the last call into `changes`, whose memory is used again for the next ones.
    pub fn take_changes(&mut self, changes: &mut Vec<Change>) {
        self.changes.swap(changes);
    }

    /// Returns whether anything that somebody asked for has changed.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Returns the time that was set last.
    #[inline]
    #[must_use]
    pub const fn now(&self) -> UnixMillis {
        self.changes.now()
    }

    /// Returns what is configured.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns how many changes the data has seen, as the reference counts them for its file: an entry that
    /// was added, claimed or acknowledged is one, and so is a key that was set, deleted or flushed.
    #[must_use]
    pub const fn change_count(&self) -> u64 {
        self.changes.count()
    }

    /// Returns the counters.
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns how many databases there are.
    #[must_use]
    pub const fn databases(&self) -> usize {
        self.keyspaces.len()
    }

    /// Returns the memory that all keys and values take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keyspaces.iter().map(Keyspace::bytes).sum()
    }

    /// Returns the memory that the keys and values of one database take.
    #[inline]
    #[must_use]
    pub fn bytes_of(&self, db: usize) -> usize {
        self.keyspaces[db].bytes()
    }

    /// Returns the value of a key as a reading command sees it: this is counted, and says so if it is in vain.
    pub fn read(&mut self, db: usize, key: &[u8]) -> Option<&Value> {
        let at = self.locate_to_read(db, key)?;
        Some(self.keyspaces[db].record(at).value())
    }

    /// Reads a stream, as [`Store::read`] does.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn stream(&mut self, db: usize, key: &[u8]) -> Result<Option<&Stream>, WrongType> {
        self.read(db, key).map(Value::as_stream).transpose()
    }

    /// Reads a string, as [`Store::read`] does.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn string(&mut self, db: usize, key: &[u8]) -> Result<Option<&StringValue>, WrongType> {
        self.read(db, key).map(Value::as_string).transpose()
    }

    /// Returns the value of a key as a changing command sees it before it acts: access is noted, nothing counted.
    pub fn lookup(&mut self, db: usize, key: &[u8]) -> Option<&Value> {
        let at = self.locate(db, key)?;
        Some(self.keyspaces[db].record(at).value())
    }

    /// Returns the value of a key without leaving a trace.
    #[must_use]
    pub fn peek(&self, db: usize, key: &[u8]) -> Option<&Value> {
        let keyspace = &self.keyspaces[db];
        let record = keyspace.record(keyspace.find(key)?);
        (!self.is_gone(record)).then(|| record.value())
    }

    /// Returns whether a key is due but not removed yet.
    #[must_use]
    pub fn is_due(&self, db: usize, key: &[u8]) -> bool {
        let keyspace = &self.keyspaces[db];
        let record = keyspace.find(key).map(|at| keyspace.record(at));
        record.is_some_and(|record| self.is_gone(record))
    }

    /// Asserts the invariants of all databases. Takes time proportional to all there is.
    pub fn check(&self) {
        self.keyspaces.iter().for_each(Keyspace::check);
        let mut others = self.keyspaces[self.deadline_dbs..].iter();
        assert!(others.all(|keyspace| keyspace.deadlines().len() == 0));
    }

    /// Finds a key to change it or what belongs to it.
    #[inline]
    fn locate(&mut self, db: usize, key: &[u8]) -> Option<RecordIndex> {
        let at = self.find_alive(db, key, self.expiry_paused)?;
        self.note_access(db, at);
        Some(at)
    }

    /// Finds a key to look at it, without noting the access.
    #[inline]
    fn locate_quietly(&mut self, db: usize, key: &[u8]) -> Option<RecordIndex> {
        self.find_alive(db, key, self.keeps_due())
    }

    /// Finds a key to read it.
    #[inline]
    fn locate_to_read(&mut self, db: usize, key: &[u8]) -> Option<RecordIndex> {
        let at = self.locate_quietly(db, key);
        if let Some(at) = at {
            self.note_access(db, at);
        }
        self.count_read(db, key, at);
        at
    }

    /// Finds a key that does not read as missing. One that is due is removed unless it must be kept.
    #[inline]
    fn find_alive(&mut self, db: usize, key: &[u8], keeps_due: bool) -> Option<RecordIndex> {
        let keyspace = &self.keyspaces[db];
        let at = keyspace.find(key)?;
        if self.is_gone(keyspace.record(at)) {
            if !keeps_due {
                self.expire(db, at, Event::Expired);
            }
            return None;
        }
        Some(at)
    }

    #[inline]
    fn note_access(&mut self, db: usize, at: RecordIndex) {
        if !self.no_touch {
            let now = self.now();
            self.keyspaces[db].touch(at, now);
        }
    }

    /// Whether a key reads as missing.
    #[inline]
    fn is_gone(&self, record: &Record) -> bool {
        record.is_due(self.now()) && !self.sees_due
    }

    /// Whether keys that are due stay, short of somebody writing to them.
    const fn keeps_due(&self) -> bool {
        self.expiry_paused || self.settings.is_importing
    }

    #[inline]
    fn count_read(&mut self, db: usize, key: &[u8], found: Option<RecordIndex>) {
        if found.is_some() {
            self.stats.hits += 1;
        } else {
            self.stats.misses += 1;
            self.changes.record_for_all(db, key, Event::KeyMiss);
        }
    }

    /// Puts a value under a key that [`Store::locate`] found or not. A deadline stays.
    fn put(
        &mut self,
        db: usize,
        key: &[u8],
        found: Option<RecordIndex>,
        value: Value,
    ) -> RecordIndex {
        let Some(at) = found else {
            return self.create(db, key, value);
        };
        let old = self.keyspaces[db].replace(at, value);
        if matches!(old, Value::Stream(_)) {
            self.changes.record(db, key, Event::Overwritten);
        }
        at
    }

    /// Says that what is under a key now took the place of something, as Redis does. `old` is what that was.
    fn record_replaced(&mut self, db: usize, key: &[u8], old: Option<ValueKind>, new: ValueKind) {
        if let Some(old) = old
            && self.settings.compat == Compat::Redis
        {
            self.changes.record_for_all(db, key, Event::Replaced);
            if old != new {
                self.changes.record_for_all(db, key, Event::TypeChanged);
            }
        }
    }

    /// Sets when a key is due, or that it is not, and returns when it was.
    fn set_deadline(
        &mut self,
        db: usize,
        at: RecordIndex,
        deadline: Option<UnixMillis>,
    ) -> Option<UnixMillis> {
        if deadline.is_some() {
            self.deadline_dbs = self.deadline_dbs.max(db + 1);
        }
        self.keyspaces[db].set_deadline(at, deadline)
    }

    /// Finds out which databases have deadlines, once they have become others.
    fn find_deadline_dbs(&mut self) {
        let has_some = |keyspace: &Keyspace| keyspace.deadlines().len() > 0;
        self.deadline_dbs = self
            .keyspaces
            .iter()
            .rposition(has_some)
            .map_or(0, |db| db + 1);
    }

    /// Returns the type of a key that [`Store::locate`] found or not.
    fn kind_at(&self, db: usize, found: Option<RecordIndex>) -> Option<ValueKind> {
        found.map(|at| self.keyspaces[db].record(at).value().kind())
    }

    /// Adds a key that [`Store::locate`] did not find.
    fn create(&mut self, db: usize, key: &[u8], value: Value) -> RecordIndex {
        if self.keeps_due()
            && let Some(at) = self.keyspaces[db].find(key)
        {
            // It reads as missing and only waits for the end of the pause or of the import.
            self.expire(db, at, Event::Expired);
        }
        let now = self.now();
        let at = self.keyspaces[db].insert(key, value, now);
        self.changes.record(db, key, Event::New);
        if self.changes.is_recording() {
            self.note_created(db, at);
        }
        at
    }

    /// Removes a key because its time has come, for the reason that `event` tells.
    #[cold]
    fn expire(&mut self, db: usize, at: RecordIndex, event: Event) {
        let record = self.keyspaces[db].remove(at);
        self.stats.expired += 1;
        self.changes.record(db, record.key(), event);
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
