//! A stream that is put together of its parts, as they come from elsewhere.

use super::Stream;
use super::group_bytes;
use crate::group::Group;
use crate::id::StreamId;
use crate::log::Log;
use crate::pending::PendingFilter;

impl Stream {
    /// Makes a stream without groups of its entries and counters; none if an entry is above the last ID.
    pub(crate) fn from_log(
        mut log: Log,
        last_id: StreamId,
        max_deleted_id: StreamId,
        entries_added: u64,
    ) -> Option<Self> {
        let last_known = log.last_slot_id();
        if log.last_id() > Some(last_id) {
            return None;
        }
        if last_known < Some(last_id) {
            log.lose_end();
        } else if last_known > Some(last_id) {
            log.step_back();
        }
        Some(Self {
            log,
            last_id,
            max_deleted_id,
            entries_added,
            ..Self::default()
        })
    }

    /// Adds a group, and says whether there was none of its name.
    pub(crate) fn add_group(&mut self, name: &[u8], group: Group) -> bool {
        if self.groups.contains_key(name) {
            return false;
        }
        let strays = group.pending.iter(PendingFilter::default()).any(|entry| {
            !self.log.contains(entry.id) && !self.log.may_have_lost(entry.id, entry.id)
        });
        if strays {
            // Whoever wrote this has lost entries without a trace.
            self.log.step_back();
        }
        self.group_bytes += group_bytes(name, &group);
        self.groups.insert(Box::from(name), group);
        true
    }
}
