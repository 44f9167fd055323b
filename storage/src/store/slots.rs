//! The keys of a hash slot, for servers that are part of a cluster.

use crate::change::Event;
use crate::keyspace::Keyspace;
use crate::store::Store;

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

    /// Deletes the keys of all databases that lie in a hash slot.
    pub fn remove_slot(&mut self, slot: u16) {
        for db in 0..self.keyspaces.len() {
            let places: Vec<_> = self.keyspaces[db].records_of_slot(slot).collect();
            for at in places {
                let record = self.keyspaces[db].remove(at);
                self.changes.record(db, record.key(), Event::Del);
            }
        }
    }
}
