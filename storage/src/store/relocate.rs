//! Keys that change their name or their database, and databases that are swapped or emptied.

use std::mem;

use crate::event::Event;
use crate::keyspace::{Keyspace, RecordIndex};
use crate::store::Store;
use crate::time::UnixMillis;
use crate::value::Value;

/// The key to be renamed is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchKey;

/// What was in databases that were emptied. To drop it frees the memory, which may be done elsewhere.
#[derive(Debug)]
#[must_use = "dropping it takes time proportional to the keys"]
pub struct Flushed {
    pub(super) keyspaces: Vec<Keyspace>,
}

impl Flushed {
    /// Returns how many keys there were.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keyspaces.iter().map(Keyspace::len).sum()
    }

    /// Returns whether there was no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Store {
    /// Renames a key, over another if there is one. To its own name: nothing happens.
    ///
    /// # Errors
    ///
    /// [`NoSuchKey`] if `from` is not there.
    pub fn rename(&mut self, db: usize, from: &[u8], to: &[u8]) -> Result<(), NoSuchKey> {
        let source = self.locate(db, from).ok_or(NoSuchKey)?;
        if from == to {
            return Ok(());
        }
        // Finding the target may remove it, but records never move.
        let target = self.locate(db, to);
        let replaced = self.kind_at(db, target);
        let kind = self.keyspaces[db].record(source).value().kind();
        self.remove_overwritten(db, to, target);
        self.transfer(db, source, db, to);
        self.changes.record(db, from, Event::RenameFrom);
        self.changes.record(db, to, Event::RenameTo);
        self.record_replaced(db, to, replaced, kind);
        Ok(())
    }

    /// Renames a key if there is none of the new name, and returns whether it did.
    ///
    /// # Errors
    ///
    /// [`NoSuchKey`] if `from` is not there.
    pub fn rename_nx(&mut self, db: usize, from: &[u8], to: &[u8]) -> Result<bool, NoSuchKey> {
        self.locate(db, from).ok_or(NoSuchKey)?;
        if from == to || self.locate(db, to).is_some() {
            return Ok(false);
        }
        self.rename(db, from, to).map(|()| true)
    }

    /// Moves a key to another database unless it is missing or there is one of its name, and returns whether it did.
    pub fn move_key(&mut self, db: usize, key: &[u8], to_db: usize) -> bool {
        let Some(source) = self.locate(db, key) else {
            return false;
        };
        if db == to_db || self.locate(to_db, key).is_some() {
            return false;
        }
        self.transfer(db, source, to_db, key);
        self.changes.record(db, key, Event::MoveFrom);
        self.changes.record(to_db, key, Event::MoveTo);
        true
    }

    /// Copies a key with its deadline, and returns whether it did.
    ///
    /// It does not if the key is missing, or if there is one of the new name and `replace` is not set. The source and
    /// the target must differ.
    pub fn copy(&mut self, db: usize, from: &[u8], to_db: usize, to: &[u8], replace: bool) -> bool {
        let Some(source) = self.locate_to_read(db, from) else {
            return false;
        };
        let target = self.locate(to_db, to);
        if target.is_some() && !replace {
            return false;
        }
        let record = self.keyspaces[db].record(source);
        let (value, deadline) = (record.value().clone(), record.deadline());
        let (replaced, kind) = (self.kind_at(to_db, target), value.kind());
        self.remove_overwritten(to_db, to, target);
        self.create_until(to_db, to, value, deadline);
        self.changes.record(to_db, to, Event::CopyTo);
        self.record_replaced(to_db, to, replaced, kind);
        true
    }

    /// Swaps two databases.
    pub fn swap_dbs(&mut self, one: usize, other: usize) {
        self.changes.count_more(1);
        if one == other {
            return;
        }
        self.record_swap(one, other);
        self.record_swap(other, one);
        self.keyspaces.swap(one, other);
        if one.min(other) < self.deadline_dbs {
            self.deadline_dbs = self.deadline_dbs.max(one.max(other) + 1);
        }
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.on_swapped(one, other);
        }
    }

    /// Empties a database.
    pub fn flush_db(&mut self, db: usize) -> Flushed {
        Flushed {
            keyspaces: vec![self.take_keyspace(db)],
        }
    }

    /// Empties all databases.
    pub fn flush_all(&mut self) -> Flushed {
        let all = 0..self.keyspaces.len();
        Flushed {
            keyspaces: all.map(|db| self.take_keyspace(db)).collect(),
        }
    }

    fn take_keyspace(&mut self, db: usize) -> Keyspace {
        for key in self.changes.observed_keys(db) {
            if self.keyspaces[db].find(&key).is_some() {
                self.changes.record(db, &key, Event::Flushed);
            }
        }
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.on_flushed(db);
        }
        let empty = self.keyspaces[db].empty_like();
        let taken = mem::replace(&mut self.keyspaces[db], empty);
        self.changes.count_more(taken.len() as u64);
        taken
    }

    /// Writes down what a swap means for the observed keys of one of the two databases.
    fn record_swap(&mut self, db: usize, other: usize) {
        for key in self.changes.observed_keys(db) {
            if self.keyspaces[db].find(&key).is_some() {
                self.changes.record(db, &key, Event::SwappedOut);
            }
            if self.peek(other, &key).is_some() {
                self.changes.record(db, &key, Event::SwappedIn);
            }
        }
    }

    /// Removes what a key of the same name takes the place of.
    pub(super) fn remove_overwritten(&mut self, db: usize, key: &[u8], found: Option<RecordIndex>) {
        let Some(at) = found else {
            return;
        };
        let record = self.keyspaces[db].remove(at);
        if matches!(record.value(), Value::Stream(_)) {
            self.changes.record(db, key, Event::Overwritten);
        }
    }

    /// Takes a record away and puts its value and deadline under a key that is not there.
    fn transfer(&mut self, from_db: usize, source: RecordIndex, to_db: usize, to: &[u8]) {
        if self.changes.is_recording() {
            self.note_leaving(from_db, source);
        }
        let (_, value, deadline) = self.keyspaces[from_db].remove(source).into_parts();
        self.create_until(to_db, to, value, deadline);
    }

    pub(super) fn create_until(
        &mut self,
        db: usize,
        key: &[u8],
        value: Value,
        deadline: Option<UnixMillis>,
    ) -> RecordIndex {
        let at = self.create(db, key, value);
        if deadline.is_some() {
            self.set_deadline(db, at, deadline);
        }
        at
    }
}
