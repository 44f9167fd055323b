//! Operations on streams; those on their groups are in `groups.rs`.

use crate::event::Event;
use crate::id::{IdRequest, StreamId};
use crate::store::Store;
use crate::stream::{AppendError, SetId, SetIdError, Stream};
use crate::trim::Trim;
use crate::value::{Value, WrongType};

/// What to do with a stream that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingStream {
    /// It is created.
    #[default]
    Create,
    /// It stays missing.
    Leave,
}

/// Why an entry was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// The key holds something else.
    WrongType,
    /// The stream refuses it.
    Append(AppendError),
}

/// Why the last ID of a key was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetStreamIdError {
    /// The key is not there.
    NoSuchKey,
    /// The key holds something else.
    WrongType,
    /// The stream refuses it.
    SetId(SetIdError),
}

impl Store {
    /// Appends an entry and then trims, and returns its ID, or `None` if the stream was missing and left so.
    ///
    /// `fields` are names and values in turn.
    ///
    /// # Errors
    ///
    /// Nothing has changed after any of these. `0-0` is refused before anything else.
    ///
    /// - [`AddError::WrongType`] if the key holds something else.
    /// - [`AddError::Append`] if the stream refuses the entry.
    pub fn append<'a>(
        &mut self,
        db: usize,
        key: &[u8],
        id: IdRequest,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        missing: MissingStream,
        trim: Option<Trim>,
    ) -> Result<Option<StreamId>, AddError> {
        if id == IdRequest::Exact(StreamId::MIN) {
            return Err(AddError::Append(AppendError::Zero));
        }
        let (now, limits) = (self.now(), self.settings.node_limits);
        let append = |stream: &mut Stream| -> Result<(StreamId, u64), AddError> {
            let id = stream.append(id, fields, now, limits)?;
            let trimmed = trim.map_or(0, |trim| stream.trim(trim));
            Ok((id, trimmed))
        };
        let (id, trimmed) = match self.locate(db, key) {
            Some(at) => {
                let (added, has_closed) = self.keyspaces[db].update(at, |value| {
                    let stream = value.as_stream_mut()?;
                    append(stream).map(|added| (added, stream.take_closed()))
                })?;
                if has_closed {
                    self.unpacked.on_closed(db, at, now);
                }
                if self.changes.is_recording() {
                    self.note_added(db, key, added.0, added.1);
                }
                added
            }
            None if missing == MissingStream::Leave => return Ok(None),
            None => {
                let mut stream = Box::new(Stream::new());
                let added = append(&mut stream)?;
                self.create(db, key, Value::Stream(stream));
                added
            }
        };
        self.changes.record(db, key, Event::Xadd);
        if trimmed > 0 {
            self.changes.record(db, key, Event::Xtrim);
        }
        Ok(Some(id))
    }

    /// Deletes entries and returns how many there were; none if the key is missing.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn delete(&mut self, db: usize, key: &[u8], ids: &[StreamId]) -> Result<u64, WrongType> {
        let named = ids.iter().copied();
        let deleted = self.remove_entries(db, key, Event::Xdel, |stream| stream.delete(named))?;
        if self.changes.is_recording() {
            self.note_deleted(db, key, ids);
        }
        Ok(deleted)
    }

    /// Removes old entries and returns how many; none if the key is missing.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn trim(&mut self, db: usize, key: &[u8], trim: Trim) -> Result<u64, WrongType> {
        let trimmed = self.remove_entries(db, key, Event::Xtrim, |stream| stream.trim(trim))?;
        if trimmed > 0 && self.changes.is_recording() {
            self.note_trimmed(db, key);
        }
        Ok(trimmed)
    }

    /// Sets the last ID of a stream and its counters.
    ///
    /// # Errors
    ///
    /// - [`SetStreamIdError::NoSuchKey`] if the key is not there.
    /// - [`SetStreamIdError::WrongType`] if it holds something else.
    /// - [`SetStreamIdError::SetId`] if the stream refuses it.
    pub fn set_id(&mut self, db: usize, key: &[u8], ask: SetId) -> Result<(), SetStreamIdError> {
        let at = self.locate(db, key).ok_or(SetStreamIdError::NoSuchKey)?;
        self.keyspaces[db].update(at, |value| -> Result<(), SetStreamIdError> {
            Ok(value.as_stream_mut()?.set_id(ask)?)
        })?;
        self.changes.record(db, key, Event::Xsetid);
        Ok(())
    }

    fn remove_entries(
        &mut self,
        db: usize,
        key: &[u8],
        event: Event,
        remove: impl FnOnce(&mut Stream) -> u64,
    ) -> Result<u64, WrongType> {
        let Some(at) = self.locate(db, key) else {
            return Ok(0);
        };
        let removed = self.keyspaces[db].update(at, |value| value.as_stream_mut().map(remove))?;
        if removed > 0 {
            self.changes.count_more(removed);
            self.changes.record(db, key, event);
        }
        Ok(removed)
    }
}

impl From<WrongType> for AddError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<AppendError> for AddError {
    fn from(error: AppendError) -> Self {
        Self::Append(error)
    }
}

impl From<WrongType> for SetStreamIdError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<SetIdError> for SetStreamIdError {
    fn from(error: SetIdError) -> Self {
        Self::SetId(error)
    }
}
