//! Operations on the groups of streams.
//!
//! The commands that read through a group look at the key first, by [`Store::stream`]; what they do then is no
//! further read of it.

use crate::autoclaim::{AutoClaim, AutoClaimed};
use crate::claim::{Claim, Claimed};
use crate::compat::Compat;
use crate::deliver::{History, ReadNew, Tracking};
use crate::event::Event;
use crate::id::StreamId;
use crate::keyspace::RecordIndex;
use crate::store::Store;
use crate::store::group_errors::{CreateGroupError, GroupError};
use crate::store::ledger::GroupChange;
use crate::store::streams::MissingStream;
use crate::stream::{NoGroup, Stream};
use crate::time::UnixMillis;
use crate::value::{Value, WrongType};

/// Where a group begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupStart {
    /// Behind this ID.
    After(StreamId),
    /// Behind the last ID that the stream gave out (`$`).
    AfterLast,
}

impl Store {
    /// Creates a group, and its stream if that is missing and to be created.
    ///
    /// # Errors
    ///
    /// - [`CreateGroupError::NoSuchKey`] if the key is not there and not to be created.
    /// - [`CreateGroupError::WrongType`] if it holds something else.
    /// - [`CreateGroupError::GroupExists`] if there is a group of this name.
    pub fn create_group(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        start: GroupStart,
        entries_read: Option<u64>,
        missing: MissingStream,
    ) -> Result<(), CreateGroupError> {
        let (at, event) = match (self.locate(db, key), missing) {
            (Some(at), _) => (at, Event::XgroupCreate),
            (None, MissingStream::Create) => {
                let stream = Value::Stream(Box::default());
                (self.create(db, key, stream), Event::XgroupMkstream)
            }
            (None, MissingStream::Leave) => return Err(CreateGroupError::NoSuchKey),
        };
        let compat = self.settings.compat;
        self.keyspaces[db].update(at, |value| -> Result<(), CreateGroupError> {
            let stream = value.as_stream_mut()?;
            let after = start.resolve(stream);
            stream
                .create_group(group, after, compat.admit(entries_read, stream))
                .map_err(|_exists| CreateGroupError::GroupExists)
        })?;
        if self.changes.is_recording() {
            self.note_group_start(db, key, group, GroupChange::Created);
        }
        self.changes.record(db, key, event);
        Ok(())
    }

    /// Moves a group to another place.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn set_group_id(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        start: GroupStart,
        entries_read: Option<u64>,
    ) -> Result<(), GroupError> {
        let compat = self.settings.compat;
        self.change_stream(db, key, |stream, _now| {
            let after = start.resolve(stream);
            let entries_read = compat.admit(entries_read, stream);
            Ok(stream.set_group_id(group, after, entries_read)?)
        })?;
        if self.changes.is_recording() {
            self.note_group_start(db, key, group, GroupChange::Set);
        }
        self.changes.record(db, key, Event::XgroupSetid);
        Ok(())
    }

    /// Removes a group with all that is pending in it, and returns whether it was there.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoSuchKey`] and [`GroupError::WrongType`].
    pub fn destroy_group(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
    ) -> Result<bool, GroupError> {
        let destroyed =
            self.change_stream(db, key, |stream, _now| Ok(stream.destroy_group(group)))?;
        if destroyed {
            if let Some(ledger) = self.changes.ledger_mut() {
                ledger.note(db, key, 0, |stream, mark| {
                    stream.on_group_destroyed(group, mark);
                });
            }
            self.changes.record(db, key, Event::XgroupDestroy);
        }
        Ok(destroyed)
    }

    /// Creates a consumer and returns whether it is new.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn create_consumer(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
    ) -> Result<bool, GroupError> {
        let created = self.change_stream(db, key, |stream, now| {
            Ok(stream.create_consumer(group, consumer, now)?)
        })?;
        self.record_consumer(db, key, created);
        Ok(created)
    }

    /// Deletes a consumer and returns how many pending entries went with it, or `None` if there was no such one.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn delete_consumer(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
    ) -> Result<Option<u64>, GroupError> {
        let deleted = self.change_stream(db, key, |stream, _now| {
            Ok(stream.delete_consumer(group, consumer)?)
        })?;
        if deleted.is_some() {
            if let Some(ledger) = self.changes.ledger_mut() {
                ledger.note(db, key, 0, |stream, mark| {
                    stream.on_consumer_deleted(group, consumer, mark);
                });
            }
            self.changes.record(db, key, Event::XgroupDelconsumer);
        }
        Ok(deleted)
    }

    /// Delivers new entries to a consumer as [`Stream::read_new`] does, and returns the stream to show them from.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn read_new(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        count_max: u64,
        tracking: Tracking,
    ) -> Result<(ReadNew, &Stream), GroupError> {
        let (at, read) = self.work_on_group(db, key, |stream, now| {
            stream.read_new(group, consumer, count_max, tracking, now)
        })?;
        if self.changes.is_recording() {
            self.note_read_new(db, at, group, consumer, tracking, &read);
        }
        self.stats.hits += 1;
        self.record_consumer(db, key, read.consumer_created);
        self.changes.count_more(read.delivered.is_some().into());
        Ok((read, self.stream_at(db, at)?))
    }

    /// Lists what a consumer has pending as [`Stream::read_history`] does, and returns the stream to show it from.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn read_history(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        after: StreamId,
        count_max: u64,
    ) -> Result<(History, &Stream), GroupError> {
        let (at, history) = self.work_on_group(db, key, |stream, now| {
            stream.read_history(group, consumer, after, count_max, now)
        })?;
        if self.changes.is_recording() {
            self.note_read_history(db, key, group, consumer, &history);
        }
        self.stats.hits += 1;
        self.record_consumer(db, key, history.consumer_created);
        if self.settings.compat == Compat::Valkey {
            self.changes.count_more(1);
        }
        Ok((history, self.stream_at(db, at)?))
    }

    /// Hands pending entries to a consumer as [`Stream::claim`] does, and returns the stream to show them from.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn claim(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        claim: &Claim<'_>,
    ) -> Result<(Claimed, &Stream), GroupError> {
        let (at, claimed) = self.work_on_group(db, key, |stream, now| {
            stream.claim(group, consumer, claim, now)
        })?;
        if self.changes.is_recording() {
            self.note_claimed(db, key, group, consumer, claim, &claimed);
        }
        self.record_consumer(db, key, claimed.consumer_created);
        let entries = claimed.ids.len() as u64 + claimed.dropped;
        let only_moved = claimed.has_moved && entries == 0;
        self.changes.count_more(entries + u64::from(only_moved));
        Ok((claimed, self.stream_at(db, at)?))
    }

    /// Claims what is idle as [`Stream::auto_claim`] does, and returns the stream to show it from.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn auto_claim(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        ask: AutoClaim,
    ) -> Result<(AutoClaimed, &Stream), GroupError> {
        let (at, claimed) = self.work_on_group(db, key, |stream, now| {
            stream.auto_claim(group, consumer, ask, now)
        })?;
        if self.changes.is_recording() {
            let AutoClaimed {
                claimed, deleted, ..
            } = &claimed;
            self.note_taken(db, key, group, consumer, ask.shown, claimed, deleted);
        }
        self.record_consumer(db, key, claimed.consumer_created);
        let entries = claimed.claimed.len() + claimed.deleted.len();
        self.changes.count_more(entries as u64);
        Ok((claimed, self.stream_at(db, at)?))
    }

    /// Takes entries out of a group's pending list and returns how many were there.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn acknowledge(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        ids: &[StreamId],
    ) -> Result<u64, GroupError> {
        let named = ids.iter().copied();
        let (_, count) =
            self.work_on_group(db, key, |stream, _now| stream.acknowledge(group, named))?;
        if self.changes.is_recording() {
            self.note_acknowledged(db, key, group, ids);
        }
        self.changes.count_more(count);
        Ok(count)
    }

    /// Notes that those who wait for this group's entries were tried and not all served. This is no access.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn note_attempt(&mut self, db: usize, key: &[u8], group: &[u8]) -> Result<(), GroupError> {
        let at = self.locate_quietly(db, key).ok_or(GroupError::NoSuchKey)?;
        let now = self.now();
        self.keyspaces[db].update(at, |value| {
            Ok(value.as_stream_mut()?.note_attempt(group, now)?)
        })
    }

    /// Notes that a consumer waits no longer. This is no access, and does not even remove a key that is due.
    ///
    /// # Errors
    ///
    /// Each of [`GroupError`], and nothing has changed.
    pub fn end_wait(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
    ) -> Result<(), GroupError> {
        let at = self
            .find_alive(db, key, true)
            .ok_or(GroupError::NoSuchKey)?;
        self.keyspaces[db].update(at, |value| {
            Ok(value.as_stream_mut()?.end_wait(group, consumer)?)
        })
    }

    fn change_stream<R>(
        &mut self,
        db: usize,
        key: &[u8],
        change: impl FnOnce(&mut Stream, UnixMillis) -> Result<R, GroupError>,
    ) -> Result<R, GroupError> {
        let at = self.locate(db, key).ok_or(GroupError::NoSuchKey)?;
        let now = self.now();
        self.keyspaces[db].update(at, |value| change(value.as_stream_mut()?, now))
    }

    fn work_on_group<R>(
        &mut self,
        db: usize,
        key: &[u8],
        work: impl FnOnce(&mut Stream, UnixMillis) -> Result<R, NoGroup>,
    ) -> Result<(RecordIndex, R), GroupError> {
        let at = self.locate(db, key).ok_or(GroupError::NoSuchKey)?;
        let now = self.now();
        let result = self.keyspaces[db].update(at, |value| -> Result<R, GroupError> {
            Ok(work(value.as_stream_mut()?, now)?)
        })?;
        Ok((at, result))
    }

    fn record_consumer(&mut self, db: usize, key: &[u8], created: bool) {
        if created {
            self.changes.record(db, key, Event::XgroupCreateconsumer);
        }
    }

    fn stream_at(&self, db: usize, at: RecordIndex) -> Result<&Stream, WrongType> {
        self.keyspaces[db].record(at).value().as_stream()
    }
}

impl GroupStart {
    fn resolve(self, stream: &Stream) -> StreamId {
        match self {
            Self::After(id) => id,
            Self::AfterLast => stream.last_id(),
        }
    }
}
