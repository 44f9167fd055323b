//! What can happen to a key, and what that means for those who react to it: one table for each.

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
    pub(crate) const fn is_counted(self) -> bool {
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
