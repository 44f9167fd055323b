//! Setting a stream's last ID and counters by hand.

use super::Stream;
use crate::id::StreamId;

impl Stream {
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
        if ask.id < self.last_id {
            self.log.step_back();
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
