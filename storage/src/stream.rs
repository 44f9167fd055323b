//! A stream: its log of entries, its counters, and the groups that read it.
//!
//! What happens through a group is in `deliver.rs`, `claim.rs` and `autoclaim.rs`; how far a group
//! is behind is in `lag.rs`.

use std::collections::BTreeMap;
use std::fmt;

use crate::group::Group;
use crate::id::{IdRequest, StreamId};
use crate::lag::Counters;
use crate::log::Log;
use crate::node::NodeLimits;
use crate::trim::Trim;
use crate::time::UnixMillis;

/// See the module's documentation.
///
/// Invariant: no ID in the log is above `last_id`.
#[derive(Debug, Default)]
pub struct Stream {
    log: Log,
    groups: BTreeMap<Box<[u8]>, Group>,
    last_id: StreamId,
    max_deleted_id: StreamId,
    entries_added: u64,
    /// Invariant: what [`group_bytes`] gives for all groups together.
    group_bytes: usize,
}

impl Stream {
    /// Makes a stream without entries or groups.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an entry and returns its ID, which is above every ID this stream ever had.
    ///
    /// `fields` are names and values in turn. `now` is read for [`IdRequest::Auto`] only. Should
    /// it lie before the last entry, because the host's clock stepped back, the ID continues from
    /// the last entry instead.
    ///
    /// # Errors
    ///
    /// The stream is unchanged after any of these.
    ///
    /// - [`AppendError::Zero`] if exactly `0-0` was asked for.
    /// - [`AppendError::Exhausted`] if the last ID is the greatest there is.
    /// - [`AppendError::NotGreater`] if the ID asked for is not above the last one.
    /// - [`AppendError::TooLarge`] if names and values have more than a gigabyte together.
    pub fn append<'a>(
        &mut self,
        request: IdRequest,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        now: UnixMillis,
        limits: NodeLimits,
    ) -> Result<StreamId, AppendError> {
        let id = self.next_id(request, now)?;
        if fields.clone().map(<[u8]>::len).sum::<usize>() > ENTRY_BYTES_MAX {
            return Err(AppendError::TooLarge);
        }
        self.log.append(id, fields, limits);
        self.last_id = id;
        self.entries_added = self.entries_added.saturating_add(1);
        Ok(id)
    }

    /// Deletes entries and returns how many there were. Groups that have them pending keep them so
    /// until they are acknowledged or somebody tries to claim them.
    pub fn delete(&mut self, ids: impl IntoIterator<Item = StreamId>) -> u64 {
        let mut count = 0;
        for id in ids {
            if self.log.delete(id) {
                self.max_deleted_id = self.max_deleted_id.max(id);
                count += 1;
            }
        }
        count
    }

    /// Removes old entries and returns how many.
    pub fn trim(&mut self, trim: Trim) -> u64 {
        self.log.trim(trim)
    }

    /// Sets the last ID and the counters.
    ///
    /// # Errors
    ///
    /// Nothing has changed after any of these.
    ///
    /// - [`SetIdError::BelowMaxDeleted`] if an entry with a higher ID was deleted.
    /// - [`SetIdError::BelowTop`] if there is an entry with a higher ID.
    /// - [`SetIdError::AddedBelowLen`] if more entries are there than are to have been added.
    pub fn set_id(&mut self, ask: SetId) -> Result<(), SetIdError> {
        if ask.id < self.max_deleted_id {
            return Err(SetIdError::BelowMaxDeleted);
        }
        if let Some(top) = self.log.last_id() {
            if ask.id < top {
                return Err(SetIdError::BelowTop);
            }
            if ask.entries_added.is_some_and(|n| n < self.log.len()) {
                return Err(SetIdError::AddedBelowLen);
            }
        }
        self.last_id = ask.id;
        if let Some(entries_added) = ask.entries_added {
            self.entries_added = entries_added;
        }
        if ask.max_deleted != StreamId::MIN {
            self.max_deleted_id = ask.max_deleted;
        }
        Ok(())
    }

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

    /// Notes that a consumer asked for something now, and says whether it is new.
    ///
    /// # Errors
    ///
    /// [`NoGroup`], and nothing has changed.
    pub fn touch_consumer(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        now: UnixMillis,
    ) -> Result<bool, NoGroup> {
        self.with_group(group, |_, group| group.see(consumer, now).1)
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

    /// The entries.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.log.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// The last ID that was given out, whether or not its entry is still there.
    #[must_use]
    pub fn last_id(&self) -> StreamId {
        self.last_id
    }

    /// The highest ID that was deleted singly, `0-0` if none was. Trimming does not count.
    #[must_use]
    pub fn max_deleted_id(&self) -> StreamId {
        self.max_deleted_id
    }

    /// Number of entries that were ever added.
    #[must_use]
    pub fn entries_added(&self) -> u64 {
        self.entries_added
    }

    /// The ID of the oldest entry, `0-0` if there is none.
    #[must_use]
    pub fn first_id(&self) -> StreamId {
        self.log.first_id().unwrap_or(StreamId::MIN)
    }

    /// The group of this name.
    #[must_use]
    pub fn group(&self, name: &[u8]) -> Option<&Group> {
        self.groups.get(name)
    }

    /// All groups in byte order of their names.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&[u8], &Group)> {
        self.groups.iter().map(|(name, group)| (&**name, group))
    }

    /// Memory held, without the value itself. Does not look at entries or groups.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.log.bytes() + self.group_bytes
    }

    /// Panics if the stream contradicts itself. For tests; looks at every entry.
    pub fn check(&self) {
        self.log.check();
        assert!(self.log.last_id() <= Some(self.last_id));
        for group in self.groups.values() {
            group.check();
        }
        assert_eq!(self.group_bytes, all_group_bytes(&self.groups));
    }

    /// Works on a group and accounts for the memory that it took or gave back.
    pub(crate) fn with_group<T>(
        &mut self,
        name: &[u8],
        work: impl FnOnce(&Log, &mut Group) -> T,
    ) -> Result<T, NoGroup> {
        let group = self.groups.get_mut(name).ok_or(NoGroup)?;
        self.group_bytes -= group.bytes();
        let result = work(&self.log, group);
        self.group_bytes += group.bytes();
        Ok(result)
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            len: self.log.len(),
            entries_added: self.entries_added,
            first: self.first_id(),
            last: self.last_id,
            max_deleted: self.max_deleted_id,
        }
    }

    fn next_id(&self, request: IdRequest, now: UnixMillis) -> Result<StreamId, AppendError> {
        if request == IdRequest::Exact(StreamId::MIN) {
            return Err(AppendError::Zero);
        }
        let last = self.last_id;
        let after_last = last.next().ok_or(AppendError::Exhausted)?;
        let id = match request {
            IdRequest::Auto if now.0 > last.ms => StreamId::new(now.0, 0),
            IdRequest::Auto => after_last,
            IdRequest::AutoSeq { ms } if ms > last.ms => StreamId::new(ms, 0),
            // The ID after the last one may lie in the next millisecond, which was not asked for.
            IdRequest::AutoSeq { ms } if ms == after_last.ms => after_last,
            IdRequest::Exact(id) if id > last => id,
            IdRequest::AutoSeq { .. } | IdRequest::Exact(_) => return Err(AppendError::NotGreater),
        };
        Ok(id)
    }
}

impl Clone for Stream {
    /// Copies groups and all that is pending in them too. The copy may take less memory.
    fn clone(&self) -> Self {
        let groups = self.groups.clone();
        Self {
            log: self.log.clone(),
            group_bytes: all_group_bytes(&groups),
            groups,
            ..*self
        }
    }
}

/// What to set by [`Stream::set_id`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SetId {
    id: StreamId,
    entries_added: Option<u64>,
    max_deleted: StreamId,
}

impl SetId {
    /// The last ID, and the counters as they are.
    #[must_use]
    pub fn new(id: StreamId) -> Self {
        Self {
            id,
            entries_added: None,
            max_deleted: StreamId::MIN,
        }
    }

    /// Also the number of entries that were ever added.
    #[must_use]
    pub fn entries_added(self, entries_added: u64) -> Self {
        Self {
            entries_added: Some(entries_added),
            ..self
        }
    }

    /// Also the highest ID that was deleted. `0-0` leaves it as it is.
    ///
    /// # Errors
    ///
    /// [`MaxDeletedAboveId`].
    pub fn max_deleted(self, max_deleted: StreamId) -> Result<Self, MaxDeletedAboveId> {
        if max_deleted > self.id {
            return Err(MaxDeletedAboveId);
        }
        Ok(Self {
            max_deleted,
            ..self
        })
    }
}

/// Why an entry was not appended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AppendError {
    /// `0-0` is no entry's ID.
    Zero,
    /// The ID is not above the last one.
    NotGreater,
    /// The last ID is the greatest there is.
    Exhausted,
    /// Names and values have too many bytes.
    TooLarge,
}

/// Why the last ID was not set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SetIdError {
    /// An entry with a higher ID was deleted.
    BelowMaxDeleted,
    /// There is an entry with a higher ID.
    BelowTop,
    /// There are more entries than are to have been added.
    AddedBelowLen,
}

/// The highest deleted ID would be above the last ID.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MaxDeletedAboveId;

/// The stream has no such group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoGroup;

/// The stream has a group of this name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GroupExists;

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "0-0 is no entry's ID",
            Self::NotGreater => "the ID is not above the last one",
            Self::Exhausted => "no ID is left",
            Self::TooLarge => "the entry is too large",
        })
    }
}

impl fmt::Display for NoGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such group")
    }
}

impl std::error::Error for AppendError {}
impl std::error::Error for NoGroup {}

fn all_group_bytes(groups: &BTreeMap<Box<[u8]>, Group>) -> usize {
    groups
        .iter()
        .map(|(name, group)| group_bytes(name, group))
        .sum()
}

/// Memory held for a group and its name.
fn group_bytes(name: &[u8], group: &Group) -> usize {
    name.len() + size_of::<(Box<[u8]>, Group)>() + group.bytes()
}

/// Most bytes in the names and values of one entry, as in the reference.
const ENTRY_BYTES_MAX: usize = 1 << 30;
