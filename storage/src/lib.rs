//! Streams, groups, pending entries and keys: what the server stores, without a clock, a socket or a lock.
//!
//! Time is an argument of every call that needs it, and nothing here knows how a reply looks.

mod autoclaim;
mod claim;
mod consumer;
mod deliver;
mod entry;
mod fields;
mod group;
mod id;
mod lag;
mod listpack_size;
mod log;
#[cfg(test)]
mod log_model;
mod node;
mod offsets;
mod pending;
mod radix;
mod range;
mod run;
mod stream;
mod time;
mod trim;

pub use autoclaim::{AutoClaim, AutoClaimed};
pub use claim::{Claim, ClaimShown, ClaimTime, Claimed};
pub use consumer::Consumer;
pub use deliver::{Delivered, History, HistoryEntry, ReadNew, Tracking};
pub use entry::Entry;
pub use fields::{Fields, Part};
pub use group::{Group, PendingSummary, Presence};
pub use id::{IdRequest, InvalidId, StreamId};
pub use lag::Compat;
pub use log::Log;
pub use node::NodeLimits;
pub use pending::{ConsumerIndex, IdleFilter, Pending, PendingEntry, PendingFilter};
pub use range::Range;
pub use stream::{AppendError, GroupExists, MaxDeletedAboveId, NoGroup, SetId, SetIdError, Stream};
pub use time::{Instant, Millis, Now, UnixMicros, UnixMillis};
pub use trim::{Trim, TrimLimit};
