//! What everybody knows for sure, from the outside.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// An ID that sorts as the server sorts it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Id(u64, u64);

impl Id {
    pub(super) fn parse(text: &str) -> Self {
        let (ms, seq) = text.split_once('-').unwrap();
        Self(ms.parse().unwrap(), seq.parse().unwrap())
    }
}

/// Facts about one stream.
#[derive(Default)]
pub(super) struct StreamRecord {
    /// XADDs that were sent, answered or not.
    pub(super) attempts: usize,
    /// IDs that XADD answered.
    pub(super) added: BTreeSet<Id>,
    /// IDs that somebody asked to delete, with success or not.
    pub(super) deleted: BTreeSet<Id>,
    /// Somebody asked to trim everything below this.
    trimmed_below: Option<Id>,
}

/// Facts about one group.
#[derive(Default)]
pub(super) struct GroupRecord {
    /// IDs that a consumer of the group was given as new ones.
    pub(super) delivered: BTreeSet<Id>,
    pub(super) handled: BTreeSet<Id>,
    /// IDs whose XACK was answered.
    pub(super) acknowledged: BTreeSet<Id>,
}

/// All facts.
#[derive(Default)]
pub(super) struct Record {
    streams: BTreeMap<&'static str, StreamRecord>,
    groups: BTreeMap<(&'static str, &'static str), GroupRecord>,
}

impl Record {
    pub(super) fn stream(&mut self, key: &'static str) -> &mut StreamRecord {
        self.streams.entry(key).or_default()
    }

    pub(super) fn group(&mut self, key: &'static str, group: &'static str) -> &mut GroupRecord {
        self.groups.entry((key, group)).or_default()
    }
}

impl StreamRecord {
    /// Notes that everything below `id` is to go.
    pub(super) fn trim_below(&mut self, id: Id) {
        self.trimmed_below = self.trimmed_below.max(Some(id));
    }

    /// Whether the entry may be gone because somebody asked for that.
    pub(super) fn may_be_gone(&self, id: Id) -> bool {
        self.deleted.contains(&id) || self.trimmed_below.is_some_and(|below| id < below)
    }
}

impl GroupRecord {
    /// Notes an entry that came as a new one: that happens once in each group.
    pub(super) fn deliver(&mut self, id: Id) {
        assert!(self.delivered.insert(id), "{id:?} was new twice");
    }
}
