//! Which clients read which keys, and may have cached what they read.

use std::collections::HashMap;
use std::sync::Arc;

use tailrace_storage::Rng;

use crate::client::ClientId;

/// The keys that clients read since each was last changed, and who read them.
///
/// Keys are known by name alone: one of another database that is called the same counts as the same, as
/// in the reference. A client that left stays listed until one of its keys changes, so that leaving costs
/// nothing however much it read; see [`READERS_BEFORE_LOOK`].
#[derive(Debug, Default)]
pub(crate) struct ReadKeys {
    keys: Vec<ReadKey>,
    /// Invariant: exactly the names in `keys`, with their places.
    places: HashMap<Arc<[u8]>, usize>,
    /// Invariant: the sum of the lengths of all `readers`.
    items: usize,
    /// Invariant: the sum of the lengths of all names.
    name_bytes: usize,
}

/// A key, and who is to hear that it changed.
#[derive(Debug)]
pub(crate) struct ReadKey {
    pub(crate) name: Arc<[u8]>,
    /// In the order of their numbers, each once.
    pub(crate) readers: Vec<ClientId>,
}

impl ReadKeys {
    /// Notes that `client` read a key. `is_connected` tells who need not be kept.
    pub(crate) fn insert(
        &mut self,
        name: &[u8],
        client: ClientId,
        is_connected: impl Fn(ClientId) -> bool,
    ) {
        let Some(&place) = self.places.get(name) else {
            let name: Arc<[u8]> = name.into();
            self.name_bytes += name.len();
            self.items += 1;
            self.places.insert(Arc::clone(&name), self.keys.len());
            let readers = vec![client];
            self.keys.push(ReadKey { name, readers });
            return;
        };
        let readers = &mut self.keys[place].readers;
        if readers.binary_search(&client).is_ok() {
            return;
        }
        if readers.len() == readers.capacity() && readers.len() >= READERS_BEFORE_LOOK {
            let before = readers.len();
            readers.retain(|&reader| is_connected(reader));
            self.items -= before - readers.len();
        }
        let at = readers.partition_point(|&reader| reader < client);
        readers.insert(at, client);
        self.items += 1;
    }

    /// Takes out a key.
    pub(crate) fn remove(&mut self, name: &[u8]) -> Option<ReadKey> {
        let &place = self.places.get(name)?;
        Some(self.remove_at(place))
    }

    /// Takes out any key; all are equally likely.
    pub(crate) fn remove_any(&mut self, rng: &mut Rng) -> Option<ReadKey> {
        if self.keys.is_empty() {
            return None;
        }
        Some(self.remove_at(rng.below(self.keys.len())))
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many readers are listed for all keys together.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// About the memory that all of it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.name_bytes + self.keys.len() * KEY_BYTES + self.items * size_of::<ClientId>()
    }

    fn remove_at(&mut self, place: usize) -> ReadKey {
        let key = self.keys.swap_remove(place);
        self.places.remove(&key.name);
        if let Some(moved) = self.keys.get(place)
            && let Some(moved_place) = self.places.get_mut(&moved.name)
        {
            *moved_place = place;
        }
        self.items -= key.readers.len();
        self.name_bytes -= key.name.len();
        key
    }
}

/// From so many readers of one key on, room for more is made only after those who left are taken off the
/// list: a key that every new client reads and nobody changes would else list all who ever came.
const READERS_BEFORE_LOOK: usize = 64;
/// What a key takes besides its name and its readers: two pointers to it, a place in each of the two
/// tables, and the counts in front of the name.
const KEY_BYTES: usize = size_of::<ReadKey>() + size_of::<(Arc<[u8]>, usize)>() + 16;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use tailrace_storage::Rng;

    use super::READERS_BEFORE_LOOK;
    use super::ReadKeys;
    use crate::client::ClientId;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(u8, u8),
        Remove(u8),
        RemoveAny,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            6 => (0..20u8, 0..6u8).prop_map(|(key, client)| Op::Insert(key, client)),
            1 => (0..20u8).prop_map(Op::Remove),
            1 => Just(Op::RemoveAny),
        ]
    }

    proptest! {
        /// Whatever happens, exactly those who read a key since it was last taken out are listed for it.
        #[test]
        fn a_key_lists_who_read_it_since_it_was_taken_out(
            ops in prop::collection::vec(op(), 0..200),
        ) {
            let mut keys = ReadKeys::default();
            let mut model: BTreeMap<u8, BTreeSet<ClientId>> = BTreeMap::new();
            let mut rng = Rng::from_seed(1);
            for op in ops {
                match op {
                    Op::Insert(key, client) => {
                        let client = ClientId::of_test(u64::from(client));
                        keys.insert(&[key], client, |_| true);
                        model.entry(key).or_default().insert(client);
                    }
                    Op::Remove(key) => {
                        let readers = keys.remove(&[key]).map(|key| key.readers);
                        let expected = model.remove(&key);
                        let expected = expected.map(|readers| readers.into_iter().collect());
                        prop_assert_eq!(readers, expected);
                    }
                    Op::RemoveAny => {
                        let key = keys.remove_any(&mut rng);
                        prop_assert_eq!(key.is_none(), model.is_empty());
                        if let Some(key) = key {
                            let expected = model.remove(&key.name[0]).unwrap_or_default();
                            prop_assert!(key.readers.into_iter().eq(expected));
                        }
                    }
                }
                prop_assert_eq!(keys.len(), model.len());
                let items: usize = model.values().map(BTreeSet::len).sum();
                prop_assert_eq!(keys.items(), items);
            }
        }
    }

    #[test]
    fn those_who_left_do_not_pile_up() {
        let mut keys = ReadKeys::default();
        for number in 0..1_000_000 {
            // Only the latest is still there.
            let is_connected = |client: ClientId| client.number + 1 == number;
            keys.insert(b"k", ClientId::of_test(number), is_connected);
            assert!(keys.items() <= 2 * READERS_BEFORE_LOOK);
        }
    }
}
