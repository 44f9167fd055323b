//! Packs the long values of streams in the background, when no node of theirs was closed for a while.
//!
//! A stream to which much is added has its older nodes packed as new ones come (see `log.rs`), and the newest stay plain,
//! since those who follow it read them. What is said here is for streams at rest: all their full nodes are packed.

use std::collections::{BTreeMap, VecDeque};

use crate::keyspace::RecordIndex;
use crate::store::Store;
use crate::time::{Millis, UnixMillis};

/// Streams whose closed nodes are to be packed, the one first that has waited longest.
#[derive(Clone, Debug, Default)]
pub(super) struct Unpacked {
    /// When to look at which stream. That it is still there is not said.
    turns: VecDeque<(UnixMillis, Place)>,
    /// When a node of each was closed. Invariant: those that have a turn.
    closed_at: BTreeMap<Place, UnixMillis>,
}

/// A database, and the place of a key in it.
type Place = (usize, RecordIndex);

impl Unpacked {
    /// A node of a stream was closed that may be packed.
    pub(super) fn on_closed(&mut self, db: usize, at: RecordIndex, now: UnixMillis) {
        if self.closed_at.insert((db, at), now).is_none() {
            self.turns.push_back((now + REST, (db, at)));
        }
    }
}

impl Store {
    /// Returns when some values are to be packed.
    #[inline]
    #[must_use]
    pub fn next_packing(&self) -> Option<UnixMillis> {
        self.unpacked.turns.front().map(|&(due, _)| due)
    }

    /// Packs the values of some nodes, if it is time for that.
    pub fn pack_slice(&mut self) {
        if self.next_packing().is_none_or(|due| due > self.now()) {
            return;
        }
        let Some((_, place)) = self.unpacked.turns.pop_front() else {
            return;
        };
        let (db, at) = place;
        let now = self.now();
        let closed_at = self.unpacked.closed_at.get(&place).copied();
        // A clock that was set back must not keep a stream waiting.
        let is_busy = closed_at.is_some_and(|closed_at| closed_at <= now && now < closed_at + REST);
        if is_busy {
            self.unpacked.turns.push_back((now + REST, place));
            return;
        }
        let has_more = self.settings.node_limits.packs
            && self.keyspaces[db].is_stream(at)
            && self.keyspaces[db].update(at, |value| {
                let stream = value.as_stream_mut();
                stream.is_ok_and(|stream| stream.pack_closed(SLICE_NODES))
            });
        if has_more {
            self.unpacked.turns.push_front((now + PAUSE, place));
        } else {
            self.unpacked.closed_at.remove(&place);
        }
    }
}

/// How long no node of a stream is closed until it is at rest. It is looked at as often, so that all is packed within
/// 300 ms.
const REST: Millis = Millis(100);

/// Nodes that are packed at a time, which takes some 0.1 ms.
const SLICE_NODES: usize = 16;

/// The time between two slices, for others.
const PAUSE: Millis = Millis(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{IdRequest, StreamId};
    use crate::store::{MissingStream, Settings};

    const START: u64 = 1_000_000;

    /// Adds so many long values, some of which fill a node.
    fn add(store: &mut Store, key: &[u8], entries: usize) {
        for number in 0..entries {
            let text = format!(
                "{{\"number\":{number},\"text\":\"{}\"}}",
                "words ".repeat(40)
            );
            let fields = [&b"event"[..], text.as_bytes()].into_iter();
            let create = MissingStream::Create;
            let added = store.append(0, key, IdRequest::Auto, fields, create, None);
            assert!(added.is_ok());
        }
    }

    fn store() -> Store {
        let mut store = Store::new(1, 0, Settings::default());
        store.set_now(UnixMillis(START));
        store
    }

    /// Lets time pass in slices, and returns how many milliseconds it took until nothing was left to do.
    fn rest(store: &mut Store, from: u64) -> u64 {
        for slices in 0..1_000 {
            let Some(due) = store.next_packing() else {
                assert!(slices > 0, "there was something to pack");
                return store.now().0 - from;
            };
            store.set_now(due);
            store.pack_slice();
        }
        panic!("there is always something to pack");
    }

    fn stream_bytes(store: &mut Store) -> usize {
        let stream = store.stream(0, b"s").unwrap().unwrap();
        stream.log().check();
        stream.log().bytes()
    }

    #[test]
    fn a_stream_at_rest_is_packed_within_300_ms() {
        let mut store = store();
        add(&mut store, b"s", 1_000);
        let before = stream_bytes(&mut store);

        assert!(rest(&mut store, START) <= 300);
        assert!(stream_bytes(&mut store) < before);
        let first = store
            .stream(0, b"s")
            .unwrap()
            .unwrap()
            .log()
            .get(StreamId::new(START, 0));
        assert_eq!(first.unwrap().fields().count(), 1);
    }

    #[test]
    fn a_stream_that_is_busy_has_to_wait() {
        let mut store = store();
        for now in (START..START + 1_000).step_by(50) {
            store.set_now(UnixMillis(now));
            store.pack_slice();
            add(&mut store, b"s", 20);
        }
        let before = stream_bytes(&mut store);
        let last = store.now().0;

        assert!(rest(&mut store, last) <= 300);
        assert!(stream_bytes(&mut store) < before);
    }

    #[test]
    fn nothing_is_packed_where_that_is_off() {
        let mut store = store();
        store.settings_mut().node_limits.packs = false;
        add(&mut store, b"s", 1_000);
        assert_eq!(store.next_packing(), None);

        let before = stream_bytes(&mut store);
        store.settings_mut().node_limits.packs = true;
        add(&mut store, b"other", 1_000);
        store.settings_mut().node_limits.packs = false;
        rest(&mut store, START);
        assert_eq!(stream_bytes(&mut store), before);
    }

    #[test]
    fn a_key_that_is_gone_or_holds_something_else_is_passed_over() {
        let mut store = store();
        add(&mut store, b"s", 1_000);
        assert!(store.remove(0, b"s"));

        assert!(rest(&mut store, START) <= 300);
    }

    #[test]
    fn short_values_that_differ_are_not_looked_at() {
        let mut store = store();
        for number in 0..1_000 {
            let device = format!("device {number}");
            let fields = [&b"device"[..], device.as_bytes()].into_iter();
            let create = MissingStream::Create;
            let added = store.append(0, b"s", IdRequest::Auto, fields, create, None);
            assert!(added.is_ok());
        }

        assert_eq!(store.next_packing(), None);
    }
}
