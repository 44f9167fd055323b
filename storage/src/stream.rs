//! A stream: its log of entries, its counters, and the groups that read it.
//!
//! Groups come, go and acknowledge in `stream/groups.rs`; what they hand out is in `deliver.rs`,
//! `claim.rs` and `autoclaim.rs`, and how far they are behind in `lag.rs`.

mod groups;
mod restore;
mod set_id;

use std::collections::BTreeMap;
use std::fmt;

use crate::group::Group;
use crate::id::{IdRequest, StreamId};
use crate::lag::Counters;
use crate::log::Log;
use crate::node::NodeLimits;
use crate::time::UnixMillis;
use crate::trim::Trim;

pub use groups::GroupExists;
pub use set_id::{MaxDeletedAboveId, SetId, SetIdError};

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
    ///
    /// # Examples
    ///
    /// IDs never go backwards, even when time does:
    ///
    /// ```
    /// use tailrace_storage::{AppendError, IdRequest, NodeLimits, Stream, StreamId, UnixMillis};
    ///
    /// let mut stream = Stream::new();
    /// let fields = [&b"task"[..], b"one"].into_iter();
    /// let mut append = |now| {
    ///     stream.append(IdRequest::Auto, fields.clone(), UnixMillis(now), NodeLimits::default())
    /// };
    ///
    /// assert_eq!(append(7)?, StreamId::new(7, 0));
    /// assert_eq!(append(5)?, StreamId::new(7, 1));
    /// # Ok::<(), AppendError>(())
    /// ```
    pub fn append<'a>(
        &mut self,
        request: IdRequest,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        now: UnixMillis,
        limits: NodeLimits,
    ) -> Result<StreamId, AppendError> {
        let id = self.next_id(request, now)?;
        let text_bytes = fields.clone().map(<[u8]>::len).sum();
        if text_bytes > ENTRY_BYTES_MAX {
            return Err(AppendError::TooLarge);
        }
        self.log.append_measured(id, fields, text_bytes, limits);
        self.last_id = id;
        self.entries_added = self.entries_added.saturating_add(1);
        Ok(id)
    }

    /// Whether a node was closed that may be packed, since this was last asked.
    pub(crate) fn take_closed(&mut self) -> bool {
        self.log.take_closed()
    }

    /// Packs some of the nodes that were closed; see [`Log::pack_closed`].
    pub(crate) fn pack_closed(&mut self, nodes_max: usize) -> bool {
        self.log.pack_closed(nodes_max)
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

/// The stream has no such group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoGroup;

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

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
