//! Streams, groups, pending entries and keys: what the server stores, without a clock, a socket or a lock.
//!
//! Time is an argument of every call that needs it, and nothing here knows how a reply looks.

mod autoclaim;
mod bits;
mod change;
mod claim;
mod compat;
mod consumer;
mod deliver;
mod entry;
mod event;
mod expire;
mod fields;
mod glob;
mod group;
mod id;
mod integer;
mod keyspace;
mod lag;
mod lcs;
mod ledger;
mod listpack_size;
mod log;
#[cfg(test)]
mod log_model;
mod lookup;
mod names;
mod node;
mod offsets;
mod pack;
mod pending;
mod radix;
mod range;
mod rdb;
mod rng;
mod run;
mod search;
mod slot;
mod slot_index;
mod slots;
mod store;
mod stream;
mod strings;
mod time;
mod trim;
mod value;
mod wait;

pub use autoclaim::{AutoClaim, AutoClaimed};
pub use bits::{
    BitField, BitFieldOperation, BitOperation, BitOverflow, bit_at, count_bits, find_bit,
};
pub use change::Change;
pub use claim::{Claim, ClaimShown, ClaimTime, Claimed};
pub use compat::Compat;
pub use consumer::Consumer;
pub use deliver::{Delivered, History, HistoryEntry, ReadNew, Tracking};
pub use entry::{Entry, SharedNames};
pub use event::{Event, EventClass, Signal};
pub use expire::{CurrentDeadline, DeadlineOrder, ExpireCondition, ExpireOutcome, Lifetime};
pub use fields::{Fields, Kept, Lead, Part, Plain, PlainValues, Tag, Text};
pub use glob::{Case, glob_matches};
pub use group::{Group, PendingSummary, Presence};
pub use id::{IdRequest, InvalidId, StreamId};
pub use integer::Digits;
pub use lcs::{Match, Subsequence, SubsequenceError};
pub use ledger::{
    ConsumerLedger, Deed, EntryHistory, EntryLedger, GroupLedger, Ledger, LedgerEvent, Mark,
    Promise, Removal, Stray, StreamLedger, Summary, Told, Work,
};
pub use log::Log;
pub use lookup::Lookup;
pub use node::NodeLimits;
pub use pack::Packed;
pub use pending::{ConsumerIndex, IdleFilter, Pending, PendingEntry, PendingFilter};
pub use range::Range;
pub use rdb::{PayloadRules, RestoreError, Versions, end_payload};
pub use rng::Rng;
pub use slot::{SLOT_COUNT, key_slot, pattern_slot};
pub use store::{
    AddError, Contents, ContentsKey, CreateGroupError, Flushed, GroupError, GroupStart,
    IncrementError, KeyExists, KeyFacts, MissingDatabase, MissingStream, MovedKey, NoSuchKey,
    RestoreOptions, SetCondition, SetExpiry, SetOptions, SetOutcome, SetStreamIdError, Settings,
    SlotStep, Snapshot, Stats, Store, Stored, StringError,
};
pub use stream::{AppendError, GroupExists, MaxDeletedAboveId, NoGroup, SetId, SetIdError, Stream};
pub use strings::StringValue;
pub use time::{Instant, Millis, Now, UnixMicros, UnixMillis};
pub use trim::{Trim, TrimLimit};
pub use value::{Encoding, Value, ValueKind, WrongType};
pub use wait::{GroupReader, Round, WaitList, WaiterId, Wants};
