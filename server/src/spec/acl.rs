//! The categories that access control knows commands by.

use std::ops::BitOr;

use crate::args::is_word;

/// Access-control categories, as a set. The order of the bits is the order in which they are listed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Acl(u32);

impl Acl {
    /// None.
    pub const NONE: Self = Self(0);
    /// `@keyspace`
    pub const KEYSPACE: Self = Self(1);
    /// `@read`
    pub const READ: Self = Self(1 << 1);
    /// `@write`
    pub const WRITE: Self = Self(1 << 2);
    /// `@string`
    pub const STRING: Self = Self(1 << 3);
    /// `@bitmap`
    pub const BITMAP: Self = Self(1 << 4);
    /// `@stream`
    pub const STREAM: Self = Self(1 << 5);
    /// `@pubsub`
    pub const PUBSUB: Self = Self(1 << 6);
    /// `@admin`
    pub const ADMIN: Self = Self(1 << 7);
    /// `@fast`
    pub const FAST: Self = Self(1 << 8);
    /// `@slow`
    pub const SLOW: Self = Self(1 << 9);
    /// `@blocking`
    pub const BLOCKING: Self = Self(1 << 10);
    /// `@dangerous`
    pub const DANGEROUS: Self = Self(1 << 11);
    /// `@connection`
    pub const CONNECTION: Self = Self(1 << 12);
    /// `@transaction`
    pub const TRANSACTION: Self = Self(1 << 13);
    /// `@scripting`
    pub const SCRIPTING: Self = Self(1 << 14);

    /// The names of the categories, in order.
    pub const NAMES: &'static [(Self, &'static str)] = &[
        (Self::KEYSPACE, "keyspace"),
        (Self::READ, "read"),
        (Self::WRITE, "write"),
        (Self::STRING, "string"),
        (Self::BITMAP, "bitmap"),
        (Self::STREAM, "stream"),
        (Self::PUBSUB, "pubsub"),
        (Self::ADMIN, "admin"),
        (Self::FAST, "fast"),
        (Self::SLOW, "slow"),
        (Self::BLOCKING, "blocking"),
        (Self::DANGEROUS, "dangerous"),
        (Self::CONNECTION, "connection"),
        (Self::TRANSACTION, "transaction"),
        (Self::SCRIPTING, "scripting"),
    ];

    /// The category of this name, in any case; none if there is no such category.
    pub fn of_name(name: &[u8]) -> Self {
        let is_named = |(_, known): &&(Self, &str)| is_word(name, known);
        let found = Self::NAMES.iter().find(is_named);
        found.map_or(Self::NONE, |(category, _)| *category)
    }

    /// Both sets together; usable in constants, where `|` is not.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other` is in this set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Acl {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}
