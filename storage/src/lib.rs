//! Streams, groups, pending entries and keys: what the server stores, without a clock, a socket or a lock.
//!
//! Time is an argument of every call that needs it, and nothing here knows how a reply looks.

mod autoclaim;
mod claim;
mod consumer;
mod deliver;
mod fields;
mod group;
mod id;
mod lag;
mod log;
mod pending;
mod run;
mod stream;
mod time;

pub use autoclaim::{AutoClaim, AutoClaimed};
pub use claim::{Claim, ClaimShown, ClaimTime, Claimed};
pub use consumer::Consumer;
pub use deliver::{Delivered, History, HistoryEntry, ReadNew, Tracking};
pub use fields::Part;
pub use group::{Group, PendingSummary, Presence};
pub use id::{IdRequest, InvalidId, StreamId};
pub use lag::Compat;
pub use log::{Entry, Log, NodeLimits, Range, Trim, TrimLimit};
pub use pending::{ConsumerIndex, IdleFilter, Pending, PendingEntry, PendingFilter};
pub use stream::{AppendError, GroupExists, MaxDeletedAboveId, NoGroup, SetId, SetIdError, Stream};
pub use time::{Instant, Millis, Now, UnixMicros, UnixMillis};
