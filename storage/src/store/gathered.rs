//! A snapshot made of others, for a store that holds other keys than theirs did: the nodes of a cluster go on from what a
//! server had, each with the keys of its slots, or the other way round.

use crate::keyspace::{Keyspace, Record};
use crate::ledger::Ledger;
use crate::store::packing::Unpacked;
use crate::store::snapshot::Snapshot;
use crate::store::{Stats, Store};

/// A snapshot has a key in a database that the store does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingDatabase(pub usize);

impl Store {
    /// Makes of snapshots one that this store can go back to, with those keys of each that `is_wanted` wants, which is
    /// told the number of the snapshot. Of a key that several have, the first counts.
    ///
    /// The ledgers of the snapshots go with their streams. What chance would pick next is as in this store.
    ///
    /// # Errors
    ///
    /// [`MissingDatabase`] if this store has no such database as a wanted key is in.
    pub fn gather(
        &self,
        snapshots: &[&Snapshot],
        is_wanted: impl Fn(usize, &[u8]) -> bool,
    ) -> Result<Snapshot, MissingDatabase> {
        let mut keyspaces: Vec<_> = self.keyspaces.iter().map(Keyspace::empty_like).collect();
        for (number, snapshot) in snapshots.iter().enumerate() {
            for (db, theirs) in snapshot.keyspaces.iter().enumerate() {
                let records = theirs.records();
                for record in records.filter(|record| is_wanted(number, record.key())) {
                    let own = keyspaces.get_mut(db).ok_or(MissingDatabase(db))?;
                    copy(own, record);
                }
            }
        }
        let ledgers = snapshots.iter().enumerate();
        let ledgers = ledgers.filter_map(|(number, one)| Some((number, one.ledger.as_deref()?)));
        let ledger = Ledger::gathered(ledgers, keyspaces.len(), is_wanted);
        let taken_at = snapshots.iter().map(|snapshot| snapshot.taken_at).max();
        Ok(Snapshot {
            keyspaces,
            // A stream is packed when more is added to it.
            unpacked: Unpacked::default(),
            rng: self.rng.clone(),
            taken_at: taken_at.unwrap_or_else(|| self.now()),
            change_count: 0,
            stats: Stats::default(),
            ledger: ledger.map(Box::new),
        })
    }
}

fn copy(keyspace: &mut Keyspace, record: &Record) {
    if keyspace.find(record.key()).is_none() {
        let at = keyspace.insert(record.key(), record.value().clone(), record.accessed_at);
        keyspace.set_deadline(at, record.deadline());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expire::{ExpireCondition, ExpireOutcome};
    use crate::id::{IdRequest, StreamId};
    use crate::slot::key_slot;
    use crate::store::{MissingStream, Settings};
    use crate::time::UnixMillis;

    fn filled() -> Store {
        let mut store = Store::new(2, 0, Settings::default());
        store.start_ledger();
        for key in [&b"a"[..], b"b", b"c"] {
            let id = IdRequest::Exact(StreamId::new(1, 0));
            let fields = [&b"f"[..], b"v"].into_iter();
            let added = store.append(0, key, id, fields, MissingStream::Create, None);
            assert!(added.is_ok());
        }
        let expires = store.expire_at(0, b"c", UnixMillis(70), ExpireCondition::default());
        assert_eq!(expires, ExpireOutcome::Set);
        store
    }

    fn names(snapshot: &Snapshot) -> Vec<&[u8]> {
        let mut names: Vec<_> = snapshot.contents().keys(0).map(|key| key.key).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_keys_of_a_server_are_shared_out_to_nodes_and_come_together_again() {
        let server = filled();
        let whole = server.snapshot();
        let mut nodes: Vec<Store> = Vec::new();
        for number in 0..2 {
            let mut node = Store::new(1, 0, Settings::default());
            node.find_by_slot();
            let is_own = |_, key: &[u8]| key_slot(key) % 2 == number;
            let part = node.gather(&[&whole], is_own).unwrap();
            drop(node.restore_snapshot(part));
            node.check();
            let known = node.ledger().unwrap().streams(0);
            assert!(known.eq(names(&node.snapshot())));
            nodes.push(node);
        }
        let parts: Vec<Snapshot> = nodes.iter().map(Store::snapshot).collect();
        assert_eq!(parts.iter().map(Snapshot::len).sum::<usize>(), 3);
        let together = server.gather(&parts.iter().collect::<Vec<_>>(), |_, _| true);
        let together = together.unwrap();
        assert_eq!(names(&together), names(&whole));
        let mut back = Store::new(2, 0, Settings::default());
        drop(back.restore_snapshot(together));
        back.check();
        let known: Vec<_> = back.ledger().unwrap().streams(0).collect();
        assert_eq!(known, [b"a", b"b", b"c"]);
        let due = back.contents().keys(0).filter_map(|key| key.deadline);
        assert_eq!(due.collect::<Vec<_>>(), [UnixMillis(70)]);
    }

    #[test]
    fn a_database_that_is_missing_is_named_if_it_has_a_wanted_key() {
        let mut server = filled();
        let fields = [&b"f"[..], b"v"].into_iter();
        let id = IdRequest::Exact(StreamId::new(1, 0));
        let added = server.append(1, b"d", id, fields, MissingStream::Create, None);
        assert!(added.is_ok());
        let whole = server.snapshot();
        let node = Store::new(1, 0, Settings::default());
        let missing = node.gather(&[&whole], |_, _| true).unwrap_err();
        assert_eq!(missing, MissingDatabase(1));
        let part = node.gather(&[&whole], |_, key| key != b"d").unwrap();
        assert_eq!(names(&part), [b"a", b"b", b"c"]);
        let none = node.gather(&[&whole, &whole], |number, key| number == 1 && key == b"b");
        assert_eq!(names(&none.unwrap()), [b"b"]);
    }
}
