//! How far a group is behind its stream, and where an ID stands among all that were ever added.
//!
//! Both are counters and not counts: they stay right only as long as nothing was deleted in the
//! part that they speak of, and are unknown otherwise.

use crate::compat::Compat;
use crate::group::Group;
use crate::id::StreamId;
use crate::stream::Stream;

impl Compat {
    /// What is kept of a number of entries read that somebody says: Redis takes no more than were added.
    pub(crate) fn admit(self, entries_read: Option<u64>, stream: &Stream) -> Option<u64> {
        match self {
            Self::Valkey => entries_read,
            Self::Redis => entries_read.map(|read| read.min(stream.entries_added())),
        }
    }
}

/// What the counters of a stream are derived from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    pub(crate) len: u64,
    pub(crate) entries_added: u64,
    /// The lowest ID of a live entry; `0-0` if there is none.
    pub(crate) first: StreamId,
    /// The last ID that was generated.
    pub(crate) last: StreamId,
    /// The highest ID that was deleted singly; trimming does not count.
    pub(crate) max_deleted: StreamId,
}

impl Counters {
    /// How many entries were ever added up to this ID, if that can be told.
    pub(crate) fn position(&self, id: StreamId) -> Option<u64> {
        if self.entries_added == 0 {
            return Some(0);
        }
        if self.len == 0 && id <= self.last {
            return Some(self.entries_added);
        }
        if id != StreamId::MIN && id < self.max_deleted {
            return None;
        }
        if id >= self.last {
            return (id == self.last).then_some(self.entries_added);
        }
        let is_whole = self.max_deleted == StreamId::MIN || self.max_deleted < self.first;
        let before_first = self.entries_added.saturating_sub(self.len);
        match is_whole {
            true if id < self.first => Some(before_first),
            true if id == self.first => Some(before_first + 1),
            _ => None,
        }
    }

    /// The group's counter after it has gone on from one entry to the next.
    pub(crate) fn advance(
        &self,
        from: StreamId,
        entries_read: Option<u64>,
        to: StreamId,
    ) -> Option<u64> {
        match entries_read {
            Some(read) if self.counts_from(from) => Some(read.saturating_add(1)),
            _ if self.entries_added > 0 => self.position(to),
            _ => entries_read,
        }
    }

    /// As [`Counters::advance`] from each of `count` entries to the next.
    pub(crate) fn advance_over(
        &self,
        mut from: StreamId,
        mut entries_read: Option<u64>,
        ids: impl Iterator<Item = StreamId>,
        count: u64,
    ) -> Option<u64> {
        for (id, left) in ids.zip((1..=count).rev()) {
            if let Some(read) = entries_read
                && self.counts_from(from)
            {
                // So it is from all that follow.
                return Some(read.saturating_add(left));
            }
            entries_read = self.advance(from, entries_read, id);
            from = id;
        }
        entries_read
    }

    fn lag(&self, group: &Group, compat: Compat) -> Option<u64> {
        let position = group.last_delivered();
        if self.entries_added == 0 {
            return Some(0);
        }
        if compat == Compat::Redis {
            if self.len == 0 {
                return Some(0);
            }
            if position < self.first && self.max_deleted < self.first {
                return Some(self.len);
            }
        }
        let read = match group.entries_read() {
            Some(read) if !self.has_deleted_from(position) => Some(read),
            _ => self.position(position),
        };
        // Counters that somebody set may run over; the reference takes them as signed then.
        let added = self.entries_added.cast_signed();
        read.map(|read| added.wrapping_sub(read.cast_signed()).max(0).unsigned_abs())
    }

    /// Whether each entry behind this ID is one more read.
    fn counts_from(&self, id: StreamId) -> bool {
        id >= self.first && !self.has_deleted_from(id)
    }

    /// Whether an entry at or after this ID may have been deleted, as far as that matters.
    fn has_deleted_from(&self, id: StreamId) -> bool {
        self.len > 0 && self.max_deleted != StreamId::MIN && id <= self.max_deleted
    }
}

impl Stream {
    /// The number of entries that the group has not read yet, if that can be told. Never negative.
    #[must_use]
    pub fn lag(&self, group: &Group, compat: Compat) -> Option<u64> {
        self.counters().lag(group, compat)
    }
}
