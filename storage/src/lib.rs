//! Streams, groups, pending entries and keys: what the server stores, without a clock, a socket or a lock.
//!
//! Time is an argument of every call that needs it, and nothing here knows how a reply looks.

mod fields;
mod id;
mod log;
mod time;

pub use fields::Part;
pub use id::{IdRequest, InvalidId, StreamId};
pub use log::{Entry, Log, NodeLimits, Range, Trim, TrimLimit};
pub use time::{Instant, Millis, Now, UnixMicros, UnixMillis};
