//! Who hears of all keys that begin alike, and what changed of those.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Bound;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use crate::client::ClientId;
use crate::state::State;

/// The prefixes that clients asked for.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    by_name: BTreeMap<Box<[u8]>, Prefix>,
    /// Whether something changed that nobody heard of yet.
    has_news: bool,
}

/// One prefix.
#[derive(Debug, Default)]
struct Prefix {
    clients: BTreeSet<ClientId>,
    /// The keys that changed since clients were last told, and the client that did it last, if it was
    /// one: no more than one batch of commands changes.
    changed: BTreeMap<Box<[u8]>, Option<ClientId>>,
}

impl Prefixes {
    /// Lets a client hear of all keys that begin with `prefix`.
    pub(super) fn insert(&mut self, prefix: &[u8], client: ClientId) {
        let entry = self.by_name.entry(prefix.into()).or_default();
        entry.clients.insert(client);
    }

    /// Lets a client hear of them no longer.
    pub(super) fn remove(&mut self, prefix: &[u8], client: ClientId) {
        let Some(entry) = self.by_name.get_mut(prefix) else {
            return;
        };
        entry.clients.remove(&client);
        if entry.clients.is_empty() {
            self.by_name.remove(prefix);
        }
    }

    /// Notes that a key changed.
    pub(super) fn note(&mut self, key: &[u8], by: Option<ClientId>) {
        if self.by_name.is_empty() {
            return;
        }
        // The greatest prefix that is not behind `bound` matches, or what both begin with is as far as
        // the next could match.
        let mut bound = key;
        loop {
            let upto = (Bound::Unbounded, Bound::Included(bound));
            let last = self.by_name.range_mut::<[u8], _>(upto).next_back();
            let Some((prefix, entry)) = last else {
                return;
            };
            let pairs = prefix.iter().zip(bound);
            let common = pairs.take_while(|(a, b)| a == b).count();
            if common < prefix.len() {
                bound = &bound[..common];
                continue;
            }
            entry.changed.insert(key.into(), by);
            self.has_news = true;
            let Some(shorter) = common.checked_sub(1) else {
                return;
            };
            bound = &bound[..shorter];
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

impl State {
    /// Tells those who hear of prefixes what changed, prefix by prefix, each with one message.
    pub(super) fn broadcast(&mut self) {
        if !std::mem::take(&mut self.caches.prefixes.has_news) {
            return;
        }
        // Nobody comes or goes while messages are handed out.
        let mut by_name = std::mem::take(&mut self.caches.prefixes.by_name);
        for Prefix { clients, changed } in by_name.values_mut() {
            let changed = std::mem::take(changed);
            let all = encoded(changed.keys().map(|key| &**key).collect());
            for &id in &*clients {
                let tracking = self.clients.at(id).tracking.as_deref();
                let is_spared = tracking.is_some_and(|tracking| tracking.no_loop);
                if !is_spared {
                    self.send_some(id, all.as_deref());
                    continue;
                }
                let of_others = changed.iter().filter(|(_, by)| **by != Some(id));
                let keys = encoded(of_others.map(|(key, _)| &**key).collect());
                self.send_some(id, keys.as_deref());
            }
        }
        self.caches.prefixes.by_name = by_name;
    }

    fn send_some(&mut self, id: ClientId, keys: Option<&[u8]>) {
        if let Some(keys) = keys {
            self.send_keys(id, keys);
        }
    }
}

/// Keys as an array, which looks alike in both dialects; `None` if there are none.
fn encoded(keys: Vec<&[u8]>) -> Option<Vec<u8>> {
    if keys.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    let mut writer = ReplyWriter::new(&mut out, Version::Resp2);
    writer.array(keys.len());
    for key in keys {
        writer.bulk(key);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Prefixes;
    use crate::client::ClientId;

    fn name() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..3u8, 0..5)
    }

    proptest! {
        /// Exactly the prefixes that a key begins with hear of it.
        #[test]
        fn a_key_is_noted_where_it_begins_alike(
            prefixes in prop::collection::vec(name(), 0..20),
            key in name(),
        ) {
            let mut table = Prefixes::default();
            for prefix in &prefixes {
                table.insert(prefix, ClientId::of_test(1));
            }
            table.note(&key, None);
            for (prefix, entry) in &table.by_name {
                let is_noted = entry.changed.contains_key(&*key);
                prop_assert_eq!(is_noted, key.starts_with(prefix));
            }
            prop_assert_eq!(table.has_news, prefixes.iter().any(|prefix| key.starts_with(prefix)));
        }
    }
}
