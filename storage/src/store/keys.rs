//! Operations on keys of any type: being there, being listed, being due.

use crate::compat::Compat;
use crate::event::Event;
use crate::expire::{ExpireCondition, ExpireOutcome, Lifetime};
use crate::keyspace::{Keyspace, Record, RecordIndex, Step};
use crate::store::Store;
use crate::time::{Millis, UnixMillis};
use crate::value::{Encoding, Value, ValueKind};

/// What OBJECT tells about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// How the value is kept.
    pub encoding: Encoding,
    /// How long the key was not accessed.
    pub idle: Millis,
}

/// A key and what it holds, as it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Its value.
    pub value: &'a Value,
    /// When it is due, which may be past.
    pub deadline: Option<UnixMillis>,
}

impl<'a> Stored<'a> {
    fn of(record: &'a Record) -> Self {
        Self {
            key: record.key(),
            value: record.value(),
            deadline: record.deadline(),
        }
    }
}

impl Store {
    /// Returns whether a key is there, which is counted as a read but no access.
    pub fn exists(&mut self, db: usize, key: &[u8]) -> bool {
        self.kind(db, key).is_some()
    }

    /// Returns the type of a key, which is counted as a read but no access.
    pub fn kind(&mut self, db: usize, key: &[u8]) -> Option<ValueKind> {
        let at = self.locate_quietly(db, key);
        self.count_read(db, key, at);
        at.map(|at| self.keyspaces[db].record(at).value().kind())
    }

    /// Notes an access to a key, whatever [`Store::set_no_touch`] says, and returns whether it is there.
    pub fn touch(&mut self, db: usize, key: &[u8]) -> bool {
        let at = self.locate_quietly(db, key);
        self.count_read(db, key, at);
        if let Some(at) = at {
            let now = self.now();
            self.keyspaces[db].touch(at, now);
        }
        at.is_some()
    }

    /// Returns what is to be told about a key. This is counted as a read but no access, and nobody is
    /// notified of a key that is not there.
    pub fn facts(&mut self, db: usize, key: &[u8]) -> Option<KeyFacts> {
        let Some(at) = self.locate_quietly(db, key) else {
            self.stats.misses += 1;
            return None;
        };
        self.stats.hits += 1;
        Some(self.facts_at(db, at))
    }

    /// Returns what is to be told about a key, as [`Store::facts`] does, were it due, without leaving a trace.
    #[must_use]
    pub fn peek_facts(&self, db: usize, key: &[u8]) -> Option<KeyFacts> {
        let at = self.keyspaces[db].find(key)?;
        Some(self.facts_at(db, at))
    }

    fn facts_at(&self, db: usize, at: RecordIndex) -> KeyFacts {
        let record = self.keyspaces[db].record(at);
        KeyFacts {
            encoding: record.value().encoding(),
            idle: self.now().since(record.accessed_at),
        }
    }

    /// Returns the memory that a key and its value take. Leaves no trace.
    #[must_use]
    pub fn key_bytes(&self, db: usize, key: &[u8]) -> Option<usize> {
        let keyspace = &self.keyspaces[db];
        Some(keyspace.record(keyspace.find(key)?).bytes())
    }

    /// Returns the part of [`Store::bytes`] that a database takes besides the text of its keys and what
    /// its values hold.
    #[must_use]
    pub fn overhead_bytes(&self, db: usize) -> usize {
        self.keyspaces[db].overhead_bytes()
    }

    /// Deletes a key and returns whether it was there.
    ///
    /// While keys that are due stay, one of them counts as one that is there.
    pub fn remove(&mut self, db: usize, key: &[u8]) -> bool {
        let Some(at) = self.keyspaces[db].find(key) else {
            return false;
        };
        if self.keyspaces[db].record(at).is_due(self.now()) && !self.keeps_due() {
            self.expire(db, at, Event::Expired);
            return false;
        }
        self.keyspaces[db].remove(at);
        self.changes.record(db, key, Event::Del);
        true
    }

    /// Returns how many keys a database has. Those that are due but not removed yet count.
    #[must_use]
    pub fn db_len(&self, db: usize) -> usize {
        self.keyspaces[db].len()
    }

    /// Returns how many keys of a database have a deadline.
    #[must_use]
    pub fn deadline_count(&self, db: usize) -> usize {
        self.keyspaces[db].deadlines().len()
    }

    /// Returns how long the keys of a database that have a deadline will live on average.
    #[must_use]
    pub fn lifetime_average(&self, db: usize) -> Millis {
        self.keyspaces[db].deadlines().average_after(self.now())
    }

    /// Returns the keys of a database and their values, without those that are due. Leaves no trace.
    pub fn keys(&self, db: usize) -> impl Iterator<Item = (&[u8], &Value)> {
        self.keyspaces[db]
            .records()
            .filter(|record| !self.is_gone(record))
            .map(|record| (record.key(), record.value()))
    }

    /// Returns everything that a database holds, what is due included. Leaves no trace.
    pub fn stored(&self, db: usize) -> impl Iterator<Item = Stored<'_>> {
        self.keyspaces[db].records().map(Stored::of)
    }

    /// Returns what a key holds, even if it is due. Leaves no trace.
    #[must_use]
    pub fn stored_at(&self, db: usize, key: &[u8]) -> Option<Stored<'_>> {
        let keyspace = &self.keyspaces[db];
        Some(Stored::of(keyspace.record(keyspace.find(key)?)))
    }

    /// Looks at about `count` keys, shows those that `admits` admits to `visit`, and returns the cursor to go on
    /// with, or 0 at the end.
    ///
    /// A scan begins with 0. A key that is there from its beginning to its end is shown exactly once; one that
    /// comes or goes meanwhile may be. Keys that are due are not shown, and those admitted are removed.
    /// A call may show no key at all and yet not be the last, because it looks at a bounded number of places.
    pub fn scan(
        &mut self,
        db: usize,
        cursor: u64,
        count: usize,
        admits: impl Fn(&[u8], &Value) -> bool,
        mut visit: impl FnMut(&[u8]),
    ) -> u64 {
        let Ok(mut position) = usize::try_from(cursor) else {
            return 0;
        };
        let places_end = position.saturating_add(count.saturating_add(FREE_PLACES_MAX));
        for _ in 0..count {
            let places_max = places_end.saturating_sub(position);
            match self.keyspaces[db].next_from(position, places_max) {
                Step::End => return 0,
                Step::NotYet(next) => return next as u64,
                Step::Found(at, next) => {
                    position = next;
                    let record = self.keyspaces[db].record(at);
                    if !admits(record.key(), record.value()) {
                        continue;
                    }
                    if !self.is_gone(record) {
                        visit(record.key());
                    } else if !self.keeps_due() {
                        self.expire(db, at, Event::Expired);
                    }
                }
            }
        }
        match self.keyspaces[db].next_from(position, 1) {
            Step::End => 0,
            Step::NotYet(_) | Step::Found(..) => position as u64,
        }
    }

    /// Returns a key by chance, or `None` if there is none. Keys that are due are removed on the way.
    pub fn random_key(&mut self, db: usize) -> Option<&[u8]> {
        let mut tries = 0;
        let at = loop {
            let at = self.keyspaces[db].pick(&mut self.rng)?;
            if !self.is_gone(self.keyspaces[db].record(at)) {
                break at;
            }
            if !self.keeps_due() {
                self.expire(db, at, Event::Expired);
                continue;
            }
            // They must stay, and there may be no others: then one of them is the answer.
            tries += 1;
            if tries == DUE_TRIES_MAX {
                break at;
            }
        };
        Some(self.keyspaces[db].record(at).key())
    }

    /// Returns how long a key lives, or `None` if it is not there. Counted as a read but no access.
    pub fn lifetime(&mut self, db: usize, key: &[u8]) -> Option<Lifetime> {
        let at = self.locate_quietly(db, key);
        self.count_read(db, key, at);
        let deadline = self.keyspaces[db].record(at?).deadline();
        Some(deadline.map_or(Lifetime::Unlimited, Lifetime::Until))
    }

    /// Sets the deadline of a key if the condition holds. One that is not in the future removes the key, unless
    /// data is imported.
    pub fn expire_at(
        &mut self,
        db: usize,
        key: &[u8],
        deadline: UnixMillis,
        condition: ExpireCondition,
    ) -> ExpireOutcome {
        let Some(at) = self.locate(db, key) else {
            return ExpireOutcome::Refused;
        };
        if !condition.holds(self.keyspaces[db].record(at).deadline(), deadline) {
            return ExpireOutcome::Refused;
        }
        if self.is_past(deadline) {
            self.remove_past(db, at);
            return ExpireOutcome::Removed;
        }
        self.set_deadline(db, at, Some(deadline));
        self.changes.record(db, key, Event::Expire);
        ExpireOutcome::Set
    }

    /// Takes the deadline of a key away and returns whether it had one.
    pub fn persist(&mut self, db: usize, key: &[u8]) -> bool {
        let Some(at) = self.locate(db, key) else {
            return false;
        };
        let had_deadline = self.set_deadline(db, at, None).is_some();
        if had_deadline {
            self.changes.record(db, key, Event::Persist);
        }
        had_deadline
    }

    /// Returns when the first key is due, unless keys that are due stay.
    #[must_use]
    pub fn next_expiry(&self) -> Option<UnixMillis> {
        if self.keeps_due() {
            return None;
        }
        self.keyspaces[..self.deadline_dbs]
            .iter()
            .filter_map(|keyspace| keyspace.deadlines().first_due_at())
            .min()
    }

    /// Removes at most `max` keys that are due, soonest first, and returns how many it removed.
    pub fn expire_due(&mut self, max: usize) -> usize {
        for removed in 0..max {
            if self.next_expiry().is_none_or(|due_at| due_at > self.now()) {
                return removed;
            }
            let soonest = |keyspace: &Keyspace| keyspace.deadlines().first();
            let firsts = self.keyspaces.iter().map(soonest).enumerate();
            let first = firsts
                .filter_map(|(db, first)| first.map(|(deadline, at)| (deadline, db, at)))
                .min();
            if let Some((_, db, at)) = first {
                self.stats.expired_unasked += 1;
                self.expire(db, at, Event::Expired);
            }
        }
        max
    }

    /// Whether a deadline removes the key that it is set for.
    pub(super) fn is_past(&self, deadline: UnixMillis) -> bool {
        deadline <= self.now() && !self.settings.is_importing
    }

    /// Removes a key whose deadline was set to the past.
    pub(super) fn remove_past(&mut self, db: usize, at: RecordIndex) {
        match self.settings.compat {
            Compat::Valkey => self.expire(db, at, Event::Outdated),
            Compat::Redis => {
                let record = self.keyspaces[db].remove(at);
                self.changes.record(db, record.key(), Event::Del);
            }
        }
    }
}

/// How many places without a key one call of a scan looks at, besides those with keys.
const FREE_PLACES_MAX: usize = 4_096;

/// How many keys that are due may be picked by chance while they must stay.
const DUE_TRIES_MAX: usize = 100;
