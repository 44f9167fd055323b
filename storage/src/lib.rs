//! Streams, groups, pending entries and keys: what the server stores, without a clock, a socket or a lock.
//!
//! Time is an argument of every call that needs it, and nothing here knows how a reply looks.

mod autoclaim;
mod change;
mod claim;
mod consumer;
mod deliver;
mod expire;
mod extended;
mod fields;
mod glob;
mod group;
mod id;
mod integer;
mod keyspace;
mod lag;
mod log;
mod pending;
mod rng;
mod run;
mod slot;
mod store;
mod stream;
mod strings;
mod time;
mod value;

pub use autoclaim::{AutoClaim, AutoClaimed};
pub use change::{Change, Event, EventClass, Signal};
pub use claim::{Claim, ClaimShown, ClaimTime, Claimed};
pub use consumer::Consumer;
pub use deliver::{Delivered, History, HistoryEntry, ReadNew, Tracking};
pub use expire::{CurrentDeadline, DeadlineOrder, ExpireCondition, ExpireOutcome, Lifetime};
pub use fields::Part;
pub use glob::{Case, glob_matches};
pub use group::{Group, PendingSummary, Presence};
pub use id::{IdRequest, InvalidId, StreamId};
pub use integer::Digits;
pub use lag::Compat;
pub use log::{Entry, Log, NodeLimits, Range, Trim, TrimLimit};
pub use pending::{ConsumerIndex, IdleFilter, Pending, PendingEntry, PendingFilter};
pub use rng::Rng;
pub use slot::{SLOT_COUNT, key_slot, pattern_slot};
pub use store::{
    AddError, CreateGroupError, FloatError, Flushed, GroupError, GroupStart, IncrementError,
    KeyFacts, MissingStream, NoSuchKey, SetCondition, SetExpiry, SetOptions, SetOutcome,
    SetStreamIdError, Settings, Stats, Store, StringError,
};
pub use stream::{AppendError, GroupExists, MaxDeletedAboveId, NoGroup, SetId, SetIdError, Stream};
pub use strings::StringValue;
pub use time::{Instant, Millis, Now, UnixMicros, UnixMillis};
pub use value::{Encoding, Value, ValueKind, WrongType};
