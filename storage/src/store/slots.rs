//! The keys of a hash slot, for servers that are part of a cluster.

use crate::event::Event;
use crate::keyspace::Keyspace;
use crate::ledger::CarriedLedger;
use crate::store::Store;
use crate::time::UnixMillis;
use crate::value::Value;

/// A key on its way to another store, with all that belongs to it.
#[derive(Debug)]
pub struct MovedKey {
    db: usize,
    key: Box<[u8]>,
    value: Value,
    deadline: Option<UnixMillis>,
    ledger: Option<CarriedLedger>,
}

/// What a step of a walk through a slot came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotStep {
    /// How many keys were looked at.
    pub looked_at: usize,
    /// Where to go on, or `None` behind the last key.
    pub next: Option<u64>,
}

impl Store {
    /// Lets keys be found by their hash slots from here on, which takes memory for each key and for each slot.
    ///
    /// # Panics
    ///
    /// If there are keys already.
    pub fn find_by_slot(&mut self) {
        for keyspace in &mut self.keyspaces {
            assert_eq!(keyspace.len(), 0, "only an empty store can begin to");
            *keyspace = Keyspace::by_slot();
        }
    }

    /// Returns how many keys of a database lie in a hash slot. Those that are due but not removed yet count.
    #[must_use]
    pub fn slot_len(&self, db: usize, slot: u16) -> usize {
        self.keyspaces[db].slot_len(slot)
    }

    /// Returns how many keys of all databases lie in a hash slot.
    #[must_use]
    pub fn slot_len_of_all(&self, slot: u16) -> usize {
        let keyspaces = self.keyspaces.iter();
        keyspaces.map(|keyspace| keyspace.slot_len(slot)).sum()
    }

    /// Returns the keys of a database that lie in a hash slot, in the order in which they came. Those that are due but
    /// not removed yet are among them. Leaves no trace.
    pub fn keys_of_slot(&self, db: usize, slot: u16) -> impl Iterator<Item = &[u8]> {
        let keyspace = &self.keyspaces[db];
        let records = keyspace.records_of_slot(slot);
        records.map(|at| keyspace.record(at).key())
    }

    /// Looks at about `count` keys of a hash slot from a place on, shows those that `admits` admits to `visit`, and says
    /// where to go on.
    ///
    /// A walk begins with 0. A key that is there from its beginning to its end is shown exactly once. Keys that are due
    /// are not shown.
    pub fn scan_slot(
        &mut self,
        db: usize,
        slot: u16,
        from: u64,
        count: usize,
        admits: impl Fn(&[u8], &Value) -> bool,
        mut visit: impl FnMut(&[u8]),
    ) -> SlotStep {
        let keyspace = &self.keyspaces[db];
        // A record never moves, so the order of the places is one to go on with.
        let mut places: Vec<_> = keyspace.records_of_slot(slot).collect();
        places.sort_unstable();
        let places = places.into_iter().filter(|at| at.number() >= from);
        let mut looked_at = 0;
        for at in places {
            if looked_at == count {
                let next = Some(at.number());
                return SlotStep { looked_at, next };
            }
            looked_at += 1;
            let record = keyspace.record(at);
            if admits(record.key(), record.value()) && !self.is_gone(record) {
                visit(record.key());
            }
        }
        SlotStep {
            looked_at,
            next: None,
        }
    }

    /// Takes the keys of all databases that lie in a hash slot, in the order in which they came.
    pub fn take_slot(&mut self, slot: u16) -> Vec<MovedKey> {
        let mut moved = Vec::new();
        for db in 0..self.keyspaces.len() {
            let places: Vec<_> = self.keyspaces[db].records_of_slot(slot).collect();
            for at in places {
                let (key, value, deadline) = self.keyspaces[db].remove(at).into_parts();
                let ledger = self.changes.ledger_mut();
                let ledger = ledger.and_then(|ledger| ledger.give_away(db, &key));
                self.changes.record(db, &key, Event::MovedAway);
                moved.push(MovedKey {
                    db,
                    key,
                    value,
                    deadline,
                    ledger,
                });
            }
        }
        moved
    }

    /// Takes in keys that another store gave away, with what its ledger knows of them if there is one here. What was
    /// under their names is gone.
    pub fn put_moved(&mut self, keys: Vec<MovedKey>) {
        for moved in keys {
            self.remove(moved.db, &moved.key);
            if let (Some(own), Some(theirs)) = (self.changes.ledger_mut(), moved.ledger) {
                own.take_in(theirs);
            }
            let at = self.create(moved.db, &moved.key, moved.value);
            self.set_deadline(moved.db, at, moved.deadline);
        }
    }

    /// Deletes the keys of all databases that lie in a hash slot, for the reason that `event` tells.
    pub fn remove_slot(&mut self, slot: u16, event: Event) {
        for db in 0..self.keyspaces.len() {
            let places: Vec<_> = self.keyspaces[db].records_of_slot(slot).collect();
            for at in places {
                let record = self.keyspaces[db].remove(at);
                self.changes.record(db, record.key(), event);
            }
        }
    }
}
