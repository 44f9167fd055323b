//! What commands do, as sets.

use std::ops::BitOr;

/// What a command does, as a set. The order of the bits is the order in which `COMMAND` lists them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags(u32);

impl Flags {
    /// Nothing special.
    pub const NONE: Self = Self(0);
    /// Changes data.
    pub const WRITE: Self = Self(1);
    /// Reads data and changes none.
    pub const READONLY: Self = Self(1 << 1);
    /// May make the data grow, and is refused when memory is used up.
    pub const DENYOOM: Self = Self(1 << 2);
    /// For whoever runs the server.
    pub const ADMIN: Self = Self(1 << 3);
    /// Has to do with channels.
    pub const PUBSUB: Self = Self(1 << 4);
    /// Not to be called from a script.
    pub const NOSCRIPT: Self = Self(1 << 5);
    /// May wait.
    pub const BLOCKING: Self = Self(1 << 6);
    /// Allowed while data is loaded.
    pub const LOADING: Self = Self(1 << 7);
    /// Allowed on a replica with stale data.
    pub const STALE: Self = Self(1 << 8);
    /// Not shown to monitors.
    pub const SKIP_MONITOR: Self = Self(1 << 9);
    /// Not put into the command log.
    pub const SKIP_COMMANDLOG: Self = Self(1 << 10);
    /// Implies `ASKING`.
    pub const ASKING: Self = Self(1 << 11);
    /// Takes constant or logarithmic time.
    pub const FAST: Self = Self(1 << 12);
    /// Allowed before authentication.
    pub const NO_AUTH: Self = Self(1 << 13);
    /// Its key arguments are optional.
    pub const NO_MANDATORY_KEYS: Self = Self(1 << 14);
    /// Not while data is loaded in the background.
    pub const NO_ASYNC_LOADING: Self = Self(1 << 15);
    /// Not inside a transaction.
    pub const NO_MULTI: Self = Self(1 << 16);
    /// Where its keys stand depends on its arguments.
    pub const MOVABLEKEYS: Self = Self(1 << 17);
    /// Allowed while a script is over its time.
    pub const ALLOW_BUSY: Self = Self(1 << 18);
    /// Held by a pause of writes although it does not write. Not listed.
    pub const MAY_REPLICATE: Self = Self(1 << 19);
    /// Needs the configuration's permission. Not listed.
    pub const PROTECTED: Self = Self(1 << 20);
    /// Allowed to a RESP2 connection that listens to channels. Not listed.
    pub const SUBSCRIBED: Self = Self(1 << 21);
    /// Runs at once inside a transaction, where other commands are queued. Not listed.
    pub const UNQUEUED: Self = Self(1 << 22);
    /// Runs what a transaction has queued. Not listed.
    pub const RUNS_QUEUE: Self = Self(1 << 23);
    /// Runs a script, which may say what it does. Not listed.
    pub const RUNS_SCRIPT: Self = Self(1 << 24);
    /// Makes the server keep more for the client, which Redis refuses when memory is used up. Not listed.
    pub const GROWS_CLIENT: Self = Self(1 << 25);
    /// Belongs to the test double, which nothing holds back. Not listed.
    pub const DOUBLE: Self = Self(1 << 26);
    /// Takes no longer than what it is sent, replies and changes is large, so it is timed as a fast one. Not listed.
    pub const BY_SIZE: Self = Self(1 << 27);
    /// Gives a consumer of a group something. Not listed.
    pub const SERVES_CONSUMER: Self = Self(1 << 28);

    /// The names of the listed flags, in order.
    pub const NAMES: &'static [(Self, &'static str)] = &[
        (Self::WRITE, "write"),
        (Self::READONLY, "readonly"),
        (Self::DENYOOM, "denyoom"),
        (Self::ADMIN, "admin"),
        (Self::PUBSUB, "pubsub"),
        (Self::NOSCRIPT, "noscript"),
        (Self::BLOCKING, "blocking"),
        (Self::LOADING, "loading"),
        (Self::STALE, "stale"),
        (Self::SKIP_MONITOR, "skip_monitor"),
        (Self::SKIP_COMMANDLOG, "skip_commandlog"),
        (Self::ASKING, "asking"),
        (Self::FAST, "fast"),
        (Self::NO_AUTH, "no_auth"),
        (Self::NO_MANDATORY_KEYS, "no_mandatory_keys"),
        (Self::NO_ASYNC_LOADING, "no_async_loading"),
        (Self::NO_MULTI, "no_multi"),
        (Self::MOVABLEKEYS, "movablekeys"),
        (Self::ALLOW_BUSY, "allow_busy"),
    ];

    /// Both sets together; usable in constants, where `|` is not.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set, but for what is in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether any of `other` is in this set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}
