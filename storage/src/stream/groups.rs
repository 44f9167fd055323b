//! The groups of a stream and their consumers: how they come and go.

use super::{NoGroup, Stream, group_bytes};
use crate::group::Group;
use crate::id::StreamId;
use crate::time::UnixMillis;

impl Stream {
    /// Creates a group that begins behind `last_delivered`.
    ///
    /// # Errors
    ///
    /// [`GroupExists`], and nothing has changed.
    pub fn create_group(
        &mut self,
        name: &[u8],
        last_delivered: StreamId,
        entries_read: Option<u64>,
    ) -> Result<(), GroupExists> {
        if self.groups.contains_key(name) {
            return Err(GroupExists);
        }
        let group = Group::new(last_delivered, entries_read);
        self.group_bytes += group_bytes(name, &group);
        self.groups.insert(Box::from(name), group);
        Ok(())
    }

    /// Moves a group to another place. What is pending stays so.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn set_group_id(
        &mut self,
        name: &[u8],
        last_delivered: StreamId,
        entries_read: Option<u64>,
    ) -> Result<(), NoGroup> {
        let group = self.groups.get_mut(name).ok_or(NoGroup)?;
        group.last_delivered = last_delivered;
        group.entries_read = entries_read;
        Ok(())
    }

    /// Removes a group with all that is pending in it, and says whether it was there.
    pub fn destroy_group(&mut self, name: &[u8]) -> bool {
        let Some(group) = self.groups.remove(name) else {
            return false;
        };
        self.group_bytes -= group_bytes(name, &group);
        true
    }

    /// Removes all groups with all that is pending in them, and returns their names.
    pub(crate) fn destroy_all_groups(&mut self) -> Vec<Box<[u8]>> {
        self.group_bytes = 0;
        std::mem::take(&mut self.groups).into_keys().collect()
    }

    /// Creates a consumer and says whether it is new. One that was there is left alone.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn create_consumer(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        now: UnixMillis,
    ) -> Result<bool, NoGroup> {
        self.with_group(group, |_, group| {
            group.consumers.find_or_create(consumer, now).1
        })
    }

    /// Deletes a consumer and returns how many pending entries went with it; `None` if there was
    /// no such consumer.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn delete_consumer(
        &mut self,
        group: &[u8],
        consumer: &[u8],
    ) -> Result<Option<u64>, NoGroup> {
        self.with_group(group, |_, group| {
            let consumer = group.find_consumer(consumer)?;
            Some(group.delete_consumer(consumer))
        })
    }

    /// Takes entries out of a group's pending list, whoever has them and whether or not the log
    /// still has them. Returns how many were there.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn acknowledge(
        &mut self,
        group: &[u8],
        ids: impl IntoIterator<Item = StreamId>,
    ) -> Result<u64, NoGroup> {
        self.with_group(group, |_, group| group.acknowledge(ids))
    }

    /// Notes that those who wait for this group's entries were tried and not all were served: all
    /// that still wait count as seen now. Costs the same however many they are.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn note_attempt(&mut self, group: &[u8], now: UnixMillis) -> Result<(), NoGroup> {
        self.with_group(group, |_, group| group.note_attempt(now))
    }

    /// Notes that a consumer waits no longer. What attempts did to its idle time stays with it.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn end_wait(&mut self, group: &[u8], consumer: &[u8]) -> Result<(), NoGroup> {
        self.with_group(group, |_, group| {
            if let Some(consumer) = group.find_consumer(consumer) {
                group.end_wait(consumer);
            }
        })
    }
}

/// The stream has a group of this name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GroupExists;
