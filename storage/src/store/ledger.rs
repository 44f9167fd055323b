//! What the store tells its ledger, if it has one.
//!
//! It asks whether anybody observes what it does, and nothing more; that there is a ledger is found out here.

use crate::claim::{Claim, ClaimShown, Claimed};
use crate::deliver::{History, ReadNew, Tracking};
use crate::id::StreamId;
use crate::keyspace::RecordIndex;
use crate::ledger::{Deed, Ledger};
use crate::store::Store;
use crate::stream::Stream;
use crate::value::Value;

/// What happened to where a group begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GroupChange {
    Created,
    Set,
}

impl Store {
    /// Begins a new ledger, of all streams that are and will be there.
    pub fn start_ledger(&mut self) {
        let mut ledger = Ledger::new(self.databases(), true);
        for db in 0..self.databases() {
            for (key, value) in self.keys(db) {
                if let Value::Stream(stream) = value {
                    ledger.include(db, key, Some(stream));
                }
            }
        }
        self.changes.set_ledger(Some(Box::new(ledger)));
    }

    /// Begins anew to note what happens to the stream under this key, whether or not there is one now.
    pub fn start_ledger_of(&mut self, db: usize, key: &[u8]) {
        let databases = self.databases();
        let ledger = self.changes.take_ledger();
        let mut ledger = ledger.unwrap_or_else(|| Box::new(Ledger::new(databases, false)));
        let stream = self.noted(db, key);
        ledger.include(db, key, stream);
        self.changes.set_ledger(Some(ledger));
    }

    /// Puts another ledger into the place of the one there is; without another, what there is begins anew with the
    /// streams that are there now.
    pub(super) fn replace_ledger(&mut self, ledger: Option<Box<Ledger>>) {
        let own = self.changes.take_ledger();
        let ledger = ledger.or_else(|| {
            let mut ledger = own?.anew();
            for db in 0..self.databases() {
                for (key, value) in self.keys(db) {
                    if let (Value::Stream(stream), true) = (value, ledger.is_for(db, key)) {
                        ledger.include(db, key, Some(stream));
                    }
                }
            }
            Some(Box::new(ledger))
        });
        self.changes.set_ledger(ledger);
    }

    /// Ends the ledger and forgets it.
    pub fn stop_ledger(&mut self) {
        self.changes.set_ledger(None);
    }

    /// Notes nothing any more of the stream under this key, and forgets what is known of it.
    pub fn stop_ledger_of(&mut self, db: usize, key: &[u8]) {
        let ledger = self.changes.ledger_mut();
        if ledger.is_some_and(|ledger| ledger.exclude(db, key)) {
            self.stop_ledger();
        }
    }

    /// Returns the ledger, if there is one.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        self.changes.ledger()
    }

    /// Returns the ledger, if there is one, to tell it what the store does not know.
    pub fn ledger_mut(&mut self) -> Option<&mut Ledger> {
        self.changes.ledger_mut()
    }

    /// The stream under a key, for the ledger. Without one this is never asked.
    #[cold]
    fn noted(&self, db: usize, key: &[u8]) -> Option<&Stream> {
        self.peek(db, key)?.as_stream().ok()
    }

    /// A key came into being.
    #[cold]
    pub(super) fn note_created(&mut self, db: usize, at: RecordIndex) {
        let record = self.keyspaces[db].record(at);
        if let (Value::Stream(stream), Some(ledger)) = (record.value(), self.changes.ledger_mut()) {
            ledger.on_created(db, record.key(), stream);
        }
    }

    /// A stream is about to be moved to another key.
    #[cold]
    pub(super) fn note_leaving(&mut self, db: usize, at: RecordIndex) {
        let record = self.keyspaces[db].record(at);
        if let (Value::Stream(_), Some(ledger)) = (record.value(), self.changes.ledger_mut()) {
            ledger.lift(db, record.key());
        }
    }

    /// An entry was added to a stream that was there, which may have been trimmed then.
    #[cold]
    pub(super) fn note_added(&mut self, db: usize, key: &[u8], id: StreamId, trimmed: u64) {
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.note(db, key, 1, |stream, mark| stream.on_added(id, mark));
        }
        if trimmed > 0 {
            self.note_trimmed(db, key);
        }
    }

    /// These entries were deleted, as far as they were there.
    #[cold]
    pub(super) fn note_deleted(&mut self, db: usize, key: &[u8], ids: &[StreamId]) {
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.note(db, key, 0, |stream, mark| stream.on_deleted(ids, mark));
        }
    }

    /// These entries were acknowledged, as far as they were pending.
    #[cold]
    pub(super) fn note_acknowledged(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        ids: &[StreamId],
    ) {
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.on_acknowledged(db, key, group, ids);
        }
    }

    /// A stream was trimmed.
    #[cold]
    pub(super) fn note_trimmed(&mut self, db: usize, key: &[u8]) {
        if self.ledger().is_none() {
            return;
        }
        let stream = self.noted(db, key);
        let first_left = stream.and_then(|stream| stream.log().first_id());
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.note(db, key, 0, |stream, mark| {
                stream.on_trimmed(first_left, mark);
            });
        }
    }

    /// New entries were read.
    #[cold]
    pub(super) fn note_read_new(
        &mut self,
        db: usize,
        at: RecordIndex,
        group: &[u8],
        consumer: &[u8],
        tracking: Tracking,
        read: &ReadNew,
    ) {
        let record = self.keyspaces[db].record(at);
        let (Value::Stream(stream), Some(ledger)) = (record.value(), self.changes.ledger_mut())
        else {
            return;
        };
        let deed = match tracking {
            Tracking::Pending => Deed::Delivered,
            Tracking::NoAck => Deed::DeliveredNoAck,
        };
        let ids: Vec<_> = read.delivered.map_or_else(Vec::new, |delivered| {
            let entries = stream.log().range(delivered.from, delivered.to);
            entries.map(|entry| entry.id()).collect()
        });
        ledger.on_handed(db, record.key(), group, consumer, deed, &ids);
    }

    /// A consumer read again what it has.
    #[cold]
    pub(super) fn note_read_history(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        history: &History,
    ) {
        if self.ledger().is_none() {
            return;
        }
        let live = history.entries.iter().filter(|entry| entry.is_live);
        let ids: Vec<_> = live.map(|entry| entry.id).collect();
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.on_handed(db, key, group, consumer, Deed::Reread, &ids);
        }
    }

    /// Entries were claimed by their IDs.
    #[cold]
    pub(super) fn note_claimed(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        claim: &Claim<'_>,
        claimed: &Claimed,
    ) {
        if self.ledger().is_none() {
            return;
        }
        let stream = self.noted(db, key);
        let is_gone = |id: &StreamId| stream.is_some_and(|stream| !stream.log().contains(*id));
        let dropped: Vec<_> = claim.ids.iter().copied().filter(is_gone).collect();
        self.note_taken(
            db,
            key,
            group,
            consumer,
            claim.shown,
            &claimed.ids,
            &dropped,
        );
    }

    /// Entries were claimed, and others found to have left the stream.
    #[cold]
    pub(super) fn note_taken(
        &mut self,
        db: usize,
        key: &[u8],
        group: &[u8],
        consumer: &[u8],
        shown: ClaimShown,
        claimed: &[StreamId],
        dropped: &[StreamId],
    ) {
        let deed = match shown {
            ClaimShown::Entry => Deed::Claimed,
            ClaimShown::JustId => Deed::Moved,
        };
        if let Some(ledger) = self.changes.ledger_mut() {
            ledger.on_dropped(db, key, group, dropped);
            ledger.on_handed(db, key, group, consumer, deed, claimed);
        }
    }

    /// A group was created or set; it stands where it does now.
    #[cold]
    pub(super) fn note_group_start(
        &mut self,
        db: usize,
        key: &[u8],
        name: &[u8],
        change: GroupChange,
    ) {
        let stream = self.noted(db, key);
        let start = stream.and_then(|stream| Some(stream.group(name)?.last_delivered()));
        if let (Some(start), Some(ledger)) = (start, self.changes.ledger_mut()) {
            ledger.note(db, key, 0, |stream, _| match change {
                GroupChange::Created => stream.on_group_created(name, start),
                GroupChange::Set => stream.on_group_set(name, start),
            });
        }
    }
}
