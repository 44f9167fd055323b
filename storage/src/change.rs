//! What a command changed, for everybody who reacts to it.
//!
//! Waiting readers, WATCH and keyspace notifications all read one list, in the order in which things
//! happened. Nothing is written down while nobody asks: see [`Changes::record`].

use std::collections::BTreeMap;

use crate::ledger::Ledger;
use crate::time::UnixMillis;

/// One thing that happened to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The database of the key.
    pub db: usize,
    /// The key.
    pub key: Box<[u8]>,
    /// What happened to it.
    pub event: Event,
}

/// What can happen to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// The key came into being; what made it follows, unless that is all that happened to it.
    New,
    /// The key was made for a test (DEBUG POPULATE).
    Populated,
    /// A read did not find the key.
    KeyMiss,
    /// A stream was about to be replaced by something else; what did it follows.
    Overwritten,
    /// A value took the place of another one (only where Redis is followed); what did it follows.
    Replaced,
    /// The other value was of another type (only where Redis is followed); what did it follows.
    TypeChanged,
    /// An entry was appended.
    Xadd,
    /// Entries were trimmed.
    Xtrim,
    /// Entries were deleted.
    Xdel,
    /// The last id and its companions were set.
    Xsetid,
    /// A consumer group was created.
    XgroupCreate,
    /// A consumer group was created, and its stream with it.
    XgroupMkstream,
    /// A consumer was created.
    XgroupCreateconsumer,
    /// A consumer was deleted.
    XgroupDelconsumer,
    /// A consumer group was deleted.
    XgroupDestroy,
    /// A consumer group was set to another id.
    XgroupSetid,
    /// A string was set.
    Set,
    /// A string was appended to.
    Append,
    /// A part of a string was overwritten.
    Setrange,
    /// Bits of a string were set.
    Setbit,
    /// A number was added to a string.
    Incrby,
    /// A fraction was added to a string.
    Incrbyfloat,
    /// The key was deleted.
    Del,
    /// A deadline was set.
    Expire,
    /// The deadline was taken away.
    Persist,
    /// The key was removed because it was due.
    Expired,
    /// The key was removed because somebody set its deadline to the past.
    Outdated,
    /// The key was renamed to another.
    RenameFrom,
    /// Another key was renamed to this one.
    RenameTo,
    /// The key was copied from another.
    CopyTo,
    /// The key was moved to another database.
    MoveFrom,
    /// The key came from another database.
    MoveTo,
    /// The hash slot of the key is served by another node of the cluster.
    MovedAway,
    /// The key came from another server, or from a copy that was kept of it.
    Restore,
    /// The database was emptied while the key was there.
    Flushed,
    /// The database was swapped, and its key of this name went with it.
    SwappedOut,
    /// The database was swapped, and a key of this name came with the other.
    SwappedIn,
}

/// What an event means for readers that wait for the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Nothing.
    None,
    /// The key may serve readers now.
    Ready,
    /// What group readers wait for may be gone: they have to look again.
    Gone,
}

/// The kind of an event, by which notifications are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventClass {
    /// Of any type of key.
    Generic,
    /// Of strings.
    String,
    /// Of streams.
    Stream,
    /// A key was due.
    Expired,
    /// A key came into being.
    New,
    /// A read was in vain.
    KeyMiss,
    /// A value took the place of another one.
    Replaced,
    /// A value took the place of one of another type.
    TypeChanged,
    /// Nobody is notified.
    Silent,
}

impl Event {
    /// Returns the name under which clients are notified, if they are.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::New => "new",
            Self::KeyMiss => "keymiss",
            Self::Replaced => "overwritten",
            Self::TypeChanged => "type_changed",
            Self::Xadd => "xadd",
            Self::Xtrim => "xtrim",
            Self::Xdel => "xdel",
            Self::Xsetid => "xsetid",
            Self::XgroupCreate | Self::XgroupMkstream => "xgroup-create",
            Self::XgroupCreateconsumer => "xgroup-createconsumer",
            Self::XgroupDelconsumer => "xgroup-delconsumer",
            Self::XgroupDestroy => "xgroup-destroy",
            Self::XgroupSetid => "xgroup-setid",
            Self::Set => "set",
            Self::Append => "append",
            Self::Setrange => "setrange",
            Self::Setbit => "setbit",
            Self::Incrby => "incrby",
            Self::Incrbyfloat => "incrbyfloat",
            Self::Del => "del",
            Self::Expire => "expire",
            Self::Persist => "persist",
            Self::Expired | Self::Outdated => "expired",
            Self::RenameFrom => "rename_from",
            Self::RenameTo => "rename_to",
            Self::CopyTo => "copy_to",
            Self::MoveFrom => "move_from",
            Self::MoveTo => "move_to",
            Self::Restore => "restore",
            Self::Populated
            | Self::Overwritten
            | Self::MovedAway
            | Self::Flushed
            | Self::SwappedOut
            | Self::SwappedIn => return None,
        })
    }

    /// Whether this is one change, as the reference counts what a file would have to be told. Of others
    /// it counts something else, or nothing.
    const fn is_counted(self) -> bool {
        !matches!(
            self,
            Self::New
                | Self::Populated
                | Self::KeyMiss
                | Self::Overwritten
                | Self::Replaced
                | Self::TypeChanged
                | Self::Xtrim
                | Self::Xdel
                | Self::Expired
                | Self::RenameTo
                | Self::MoveTo
                | Self::Flushed
                | Self::SwappedOut
                | Self::SwappedIn
        )
    }

    /// Returns the kind of this event.
    #[must_use]
    pub const fn class(self) -> EventClass {
        match self {
            Self::New => EventClass::New,
            Self::KeyMiss => EventClass::KeyMiss,
            Self::Replaced => EventClass::Replaced,
            Self::TypeChanged => EventClass::TypeChanged,
            Self::Xadd
            | Self::Xtrim
            | Self::Xdel
            | Self::Xsetid
            | Self::XgroupCreate
            | Self::XgroupMkstream
            | Self::XgroupCreateconsumer
            | Self::XgroupDelconsumer
            | Self::XgroupDestroy
            | Self::XgroupSetid => EventClass::Stream,
            Self::Set
            | Self::Append
            | Self::Setrange
            | Self::Setbit
            | Self::Incrby
            | Self::Incrbyfloat => EventClass::String,
            Self::Del
            | Self::Expire
            | Self::Persist
            | Self::RenameFrom
            | Self::RenameTo
            | Self::CopyTo
            | Self::MoveFrom
            | Self::MoveTo
            | Self::Restore => EventClass::Generic,
            Self::Expired | Self::Outdated => EventClass::Expired,
            Self::Populated
            | Self::Overwritten
            | Self::MovedAway
            | Self::Flushed
            | Self::SwappedOut
            | Self::SwappedIn => EventClass::Silent,
        }
    }

    /// Returns whether this event breaks a WATCH on the key.
    ///
    /// What happens to a group of a stream that is there already never does. That a key is new does not by itself, either:
    /// what made it does, unless it has not written anything (BITFIELD).
    #[must_use]
    pub const fn breaks_watch(self) -> bool {
        !matches!(
            self,
            Self::New
                | Self::KeyMiss
                | Self::Replaced
                | Self::TypeChanged
                | Self::Xsetid
                | Self::XgroupCreate
                | Self::XgroupCreateconsumer
                | Self::XgroupDelconsumer
                | Self::XgroupDestroy
                | Self::XgroupSetid
        )
    }

    /// Returns whether clients that cached the key have to drop it.
    ///
    /// [`Event::Overwritten`] does not, as what did it follows. When databases are emptied or swapped, clients hear
    /// that or nothing.
    #[must_use]
    pub const fn invalidates(self) -> bool {
        self.breaks_watch()
            && !matches!(
                self,
                Self::Overwritten | Self::Flushed | Self::SwappedOut | Self::SwappedIn
            )
    }

    /// Returns what this event means for readers that wait for the key.
    #[must_use]
    pub const fn signal(self) -> Signal {
        match self {
            // A new key brings no entry by itself, but whoever waits for it looks at all its other keys too.
            Self::New
            | Self::Xadd
            | Self::RenameTo
            | Self::CopyTo
            | Self::MoveTo
            | Self::Restore
            | Self::SwappedIn => Signal::Ready,
            Self::Overwritten
            | Self::XgroupDestroy
            | Self::Del
            | Self::Expired
            | Self::Outdated
            | Self::RenameFrom
            | Self::MoveFrom
            | Self::MovedAway
            | Self::Flushed
            | Self::SwappedOut => Signal::Gone,
            _ => Signal::None,
        }
    }
}

/// The changes since they were last taken, and who asked for them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    list: Vec<Change>,
    /// How many there were, recorded or not.
    count: u64,
    /// How often each key is observed, by database.
    observed: Vec<BTreeMap<Box<[u8]>, u32>>,
    record_all: bool,
    /// The time of what happens.
    now: UnixMillis,
    /// What became of each entry, if anybody wants to know.
    ledger: Option<Box<Ledger>>,
    /// Invariant: `record_all`, or some key is observed, or there is a ledger.
    recording: bool,
}

impl Changes {
    /// Writes down an event if its key is observed or everything is recorded.
    #[inline]
    pub(crate) fn record(&mut self, db: usize, key: &[u8], event: Event) {
        self.count += u64::from(event.is_counted());
        if self.recording {
            self.record_if_wanted(db, key, event);
        }
    }

    /// Counts changes that are no event, or that are many in one.
    #[inline]
    pub(crate) fn count_more(&mut self, count: u64) {
        self.count += count;
    }

    /// Does not count an event of the last change, which is part of another one.
    #[inline]
    pub(crate) fn count_as_part(&mut self) {
        self.count -= 1;
    }

    /// Returns how many changes there were.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Writes down an event that only those are interested in who asked for everything.
    #[inline]
    pub(crate) fn record_for_all(&mut self, db: usize, key: &[u8], event: Event) {
        if self.record_all {
            self.push(db, key, event);
        }
    }

    pub(crate) fn set_record_all(&mut self, record_all: bool) {
        self.record_all = record_all;
        self.update_recording();
    }

    #[inline]
    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_deref()
    }

    /// The ledger, as of now.
    #[cold]
    pub(crate) fn ledger_mut(&mut self) -> Option<&mut Ledger> {
        let ledger = self.ledger.as_deref_mut()?;
        ledger.set_now(self.now);
        Some(ledger)
    }

    /// Returns whether anybody observes anything: who waits or watches, who is notified, or a ledger. This is all that
    /// is asked while nobody does.
    #[inline]
    pub(crate) const fn is_recording(&self) -> bool {
        self.recording
    }

    /// Sets the time of what follows.
    #[inline]
    pub(crate) const fn set_now(&mut self, now: UnixMillis) {
        self.now = now;
    }

    #[inline]
    pub(crate) const fn now(&self) -> UnixMillis {
        self.now
    }

    pub(crate) fn set_ledger(&mut self, ledger: Option<Box<Ledger>>) {
        self.ledger = ledger;
        self.update_recording();
    }

    pub(crate) const fn take_ledger(&mut self) -> Option<Box<Ledger>> {
        self.ledger.take()
    }

    pub(crate) fn observe(&mut self, db: usize, key: &[u8]) {
        if self.observed.len() <= db {
            self.observed.resize_with(db + 1, BTreeMap::new);
        }
        if let Some(keys) = self.observed.get_mut(db) {
            if let Some(count) = keys.get_mut(key) {
                *count += 1;
            } else {
                keys.insert(key.into(), 1);
            }
        }
        self.recording = true;
    }

    pub(crate) fn unobserve(&mut self, db: usize, key: &[u8]) {
        let Some(keys) = self.observed.get_mut(db) else {
            return;
        };
        let Some(count) = keys.get_mut(key) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            keys.remove(key);
            self.update_recording();
        }
    }

    /// Returns the observed keys of a database in byte order.
    pub(crate) fn observed_keys(&self, db: usize) -> Vec<Box<[u8]>> {
        self.observed
            .get(db)
            .map(|keys| keys.keys().cloned().collect())
            .unwrap_or_default()
    }

    pub(crate) fn list(&self) -> &[Change] {
        &self.list
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets what was written down, and what was counted beyond `count`.
    pub(crate) fn forget_since(&mut self, count: u64) {
        self.list.clear();
        self.count = count;
    }

    pub(crate) fn swap(&mut self, other: &mut Vec<Change>) {
        other.clear();
        std::mem::swap(&mut self.list, other);
    }

    #[cold]
    fn record_if_wanted(&mut self, db: usize, key: &[u8], event: Event) {
        if let Some(ledger) = self.ledger_mut() {
            ledger.on_event(db, key, event);
        }
        let observed = || {
            self.observed
                .get(db)
                .is_some_and(|keys| keys.contains_key(key))
        };
        if self.record_all || observed() {
            self.push(db, key, event);
        }
    }

    fn push(&mut self, db: usize, key: &[u8], event: Event) {
        self.list.push(Change {
            db,
            key: key.into(),
            event,
        });
    }

    fn update_recording(&mut self) {
        self.recording = self.record_all
            || self.ledger.is_some()
            || self.observed.iter().any(|keys| !keys.is_empty());
    }
}
