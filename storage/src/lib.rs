//! Streams, groups, pending entries and keys: what the server stores, without a clock, a socket or a lock.
//!
//! Time is an argument of every call that needs it, and nothing here knows how a reply looks.

mod entry;
mod fields;
mod id;
mod listpack_size;
mod log;
#[cfg(test)]
mod log_model;
mod names;
mod node;
mod offsets;
mod radix;
mod range;
mod time;
mod trim;

pub use entry::Entry;
pub use fields::{Fields, Part};
pub use id::{IdRequest, InvalidId, StreamId};
pub use log::Log;
pub use node::NodeLimits;
pub use range::Range;
pub use time::{Instant, Millis, Now, UnixMicros, UnixMillis};
pub use trim::{Trim, TrimLimit};
