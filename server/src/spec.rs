//! What a command says about itself: its name, shape, flags and keys.
//!
//! `COMMAND`, `COMMAND GETKEYS`, the checks before a command runs and the tests that hold the
//! documents to the table are all answered from here, so nothing about a command is said twice.

mod acl;
mod flags;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;

pub use self::acl::Acl;
pub use self::flags::Flags;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;

/// One command or subcommand.
///
/// A file under `commands/` opens with its `SPEC`; `..Spec::of(run)` fills in what is usual.
#[derive(Debug)]
pub struct Spec {
    /// In lower case; a subcommand is named with its parent, as `xgroup|create`.
    pub name: &'static str,
    /// How many arguments a call has, names included; negative: at least so many.
    pub arity: i32,
    /// Its arguments, in the notation of `syntax.rs`.
    pub syntax: &'static str,
    /// What the command does, as far as the server must know before it runs.
    pub flags: Flags,
    /// Categories beyond those that follow from the flags.
    pub acl: Acl,
    /// Where the keys stand.
    pub keys: &'static [KeySpec],
    /// Hints to clients and proxies.
    pub tips: &'static [&'static str],
    /// The group under which manuals list it.
    pub group: Group,
    /// One sentence in the third person.
    pub summary: &'static str,
    /// The version of the reference that introduced it.
    pub since: &'static str,
    /// What changed for its users since then: versions, and what is so from then on.
    pub history: &'static [(&'static str, &'static str)],
    /// In the O notation, for people; empty where there is nothing to say.
    pub complexity: &'static str,
    /// Whom it is for.
    pub audience: Audience,
    /// Its subcommands; a command that has some is never run itself.
    pub subcommands: &'static [&'static Self],
    /// Finds the keys where `keys` cannot say it.
    pub find_keys: Option<FindKeys>,
    /// What happens to the keys, where that depends on the arguments; the specs say
    /// `variable_flags` then.
    pub key_flags: Option<KeyFlags>,
    /// Does the work.
    pub run: Handler,
}

/// Reads its arguments, does its work and writes one reply.
///
/// A handler may return an error at any point, even halfway through a reply: the engine takes back
/// what was written. It has changed nothing then.
pub type Handler = fn(&mut Call<'_>, Args<'_>, &mut ReplyWriter<'_>) -> Result<Flow, CommandError>;

/// Gives the positions of the keys in a request, or `None` if its syntax is wrong.
pub type FindKeys = fn(Request<'_>) -> Option<Vec<usize>>;

/// Says what a request does to its keys, as in [`KeySpec::flags`].
pub type KeyFlags = fn(Request<'_>) -> &'static [&'static str];

impl Spec {
    /// A spec with everything but the handler left at what is usual.
    pub const fn of(run: Handler) -> Self {
        Self {
            name: "",
            arity: -1,
            syntax: "",
            flags: Flags::NONE,
            acl: Acl::NONE,
            keys: &[],
            tips: &[],
            group: Group::Generic,
            summary: "",
            since: "1.0.0",
            history: &[],
            complexity: "O(1)",
            audience: Audience::Everybody,
            subcommands: &[],
            find_keys: None,
            key_flags: None,
            run,
        }
    }

    /// A command that only holds subcommands.
    pub const fn container(name: &'static str, subcommands: &'static [&'static Self]) -> Self {
        Self {
            name,
            arity: -2,
            subcommands,
            complexity: "Depends on subcommand.",
            ..Self::of(crate::commands::never_run)
        }
    }

    /// Whether a call with `count` arguments, names included, has the right number of them.
    pub fn fits(&self, count: usize) -> bool {
        let wanted = usize::try_from(self.arity.unsigned_abs()).unwrap_or(usize::MAX);
        if self.arity < 0 {
            count >= wanted
        } else {
            count == wanted
        }
    }

    /// The name without its parent's: `create` of `xgroup|create`.
    pub fn short_name(&self) -> &'static str {
        self.name
            .split_once('|')
            .map_or(self.name, |(_, name)| name)
    }

    /// How many words of a request name it: two if it is a subcommand.
    #[inline]
    pub fn words(&self) -> usize {
        // Names are so short that a search by larger steps only takes longer.
        1 + usize::from(self.name.bytes().any(|byte| byte == b'|'))
    }

    /// The subcommand of this name, in any case.
    pub fn subcommand(&self, name: &[u8]) -> Option<&'static Self> {
        self.subcommands
            .iter()
            .copied()
            .find(|spec| is_word(name, spec.short_name()))
    }

    /// All categories, those that follow from the flags included.
    pub fn categories(&self) -> Acl {
        let mut acl = self.acl;
        for (flag, implied) in IMPLIED {
            // A script that only reads is no read.
            let is_left_out = *flag == Flags::READONLY && acl.has(Acl::SCRIPTING);
            if self.flags.has(*flag) && !is_left_out {
                acl = acl | *implied;
            }
        }
        if acl.has(Acl::FAST) {
            acl
        } else {
            acl | Acl::SLOW
        }
    }
}

/// Which categories follow from which flag.
const IMPLIED: &[(Flags, Acl)] = &[
    (Flags::WRITE, Acl::WRITE),
    (Flags::READONLY, Acl::READ),
    (Flags::ADMIN, Acl::ADMIN.and(Acl::DANGEROUS)),
    (Flags::PUBSUB, Acl::PUBSUB),
    (Flags::FAST, Acl::FAST),
    (Flags::BLOCKING, Acl::BLOCKING),
];

/// The group under which manuals list a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Group {
    /// Works on any key.
    Generic,
    /// Works on strings.
    String,
    /// Works on the bits of strings.
    Bitmap,
    /// Works on streams.
    Stream,
    /// Works on channels.
    PubSub,
    /// Several commands as one.
    Transactions,
    /// About the caller's connection.
    Connection,
    /// About the server.
    Server,
    /// About slots and nodes.
    Cluster,
    /// About scripts.
    Scripting,
}

impl Group {
    /// What `COMMAND DOCS` calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::String => "string",
            Self::Bitmap => "bitmap",
            Self::Stream => "stream",
            Self::PubSub => "pubsub",
            Self::Transactions => "transactions",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Cluster => "cluster",
            Self::Scripting => "scripting",
        }
    }
}

/// Whom a command is for, as far as people are told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// Whoever likes it.
    Everybody,
    /// The system itself, and whoever takes it apart.
    System,
    /// Those who have used it before.
    Old {
        /// The version of the reference since which it is deprecated.
        since: &'static str,
        /// What to use now.
        replacement: &'static str,
    },
}

/// Where some of a command's keys stand, and what happens to them.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// What people should know about these keys.
    pub notes: Option<&'static str>,
    /// What happens to the keys, as `COMMAND` lists it: `RO access`, `RW update`, ...
    pub flags: &'static [&'static str],
    /// Where the first one stands.
    pub begin: Begin,
    /// Which arguments from there on are keys.
    pub find: Find,
}

/// Where the first key stands.
#[derive(Clone, Copy, Debug)]
pub enum Begin {
    /// At this position.
    Index(usize),
    /// Behind this word, which is looked for from a position on; from the end if that is negative.
    Keyword(&'static str, i64),
    /// Only the command itself can tell.
    Unknown,
}

/// Which arguments, from the first key on, are keys.
#[derive(Clone, Copy, Debug)]
pub enum Find {
    /// Every `step`-th up to `last`, which counts from the first key, or from the end if negative;
    /// a `limit` of 2 and more stops after that part of the arguments.
    Range {
        /// The last key, from the first one; negative from the end: -1 is the last argument.
        last: i64,
        /// 1 where keys follow each other, 2 where a value stands between them.
        step: usize,
        /// 0 and 1: all; n: one n-th of them.
        limit: i64,
    },
    /// A number at `number_at` (from the first key's position) says how many follow from `first`.
    Number {
        /// Where the number stands.
        number_at: usize,
        /// Where the first key stands.
        first: usize,
        /// As in [`Find::Range`].
        step: usize,
    },
    /// Only the command itself can tell.
    Unknown,
}

impl KeySpec {
    /// One key, the first argument, with these flags.
    pub const fn first(flags: &'static [&'static str]) -> Self {
        Self::at(1, flags)
    }

    /// One key at this position, with these flags.
    pub const fn at(index: usize, flags: &'static [&'static str]) -> Self {
        Self {
            notes: None,
            flags,
            begin: Begin::Index(index),
            find: Find::Range {
                last: 0,
                step: 1,
                limit: 0,
            },
        }
    }

    /// Every argument from the first on, `step` apart.
    pub const fn all(step: usize, flags: &'static [&'static str]) -> Self {
        Self {
            notes: None,
            flags,
            begin: Begin::Index(1),
            find: Find::Range {
                last: -1,
                step,
                limit: 0,
            },
        }
    }

    /// The same with a note.
    pub const fn noted(self, notes: &'static str) -> Self {
        Self {
            notes: Some(notes),
            ..self
        }
    }
}
