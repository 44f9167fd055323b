//! `FLUSHDB [ASYNC|SYNC]` and `FLUSHALL [ASYNC|SYNC]`
//!
//! Remove all keys of the database, or of all databases.
//!
//! Behaviour worth knowing:
//! - The keys are gone when the reply comes. Their memory is freed by a thread of its own, unless
//!   `SYNC` is given.

use std::thread;

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const FLUSHDB: Spec = Spec {
    name: "flushdb",
    history: &[("4.0.0", "Takes `ASYNC`."), ("6.2.0", "Takes `SYNC`.")],
    arity: -1,
    syntax: "[flush-type(ASYNC@4.0.0|SYNC@6.2.0)]",
    flags: Flags::WRITE,
    acl: Acl::KEYSPACE.and(Acl::DANGEROUS),
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    group: Group::Server,
    summary: "Removes all keys of the database.",
    complexity: "O(N), N being the number of keys in the database.",
    ..Spec::of(flush_db)
};

pub(super) const FLUSHALL: Spec = Spec {
    name: "flushall",
    history: &[("4.0.0", "Takes `ASYNC`."), ("6.2.0", "Takes `SYNC`.")],
    arity: -1,
    syntax: "[flush-type(ASYNC@4.0.0|SYNC@6.2.0)]",
    flags: Flags::WRITE,
    acl: Acl::KEYSPACE.and(Acl::DANGEROUS),
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    group: Group::Server,
    summary: "Removes all keys of all databases.",
    complexity: "O(N), N being the number of keys in all databases.",
    ..Spec::of(flush_all)
};

fn flush_db(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let free = Free::parse(args)?;

    let db = call.db;
    let flushed = call.store().flush_db(db);
    let forgotten = call.state.invalidate_all();
    free.drop(flushed.len() + forgotten.len(), (flushed, forgotten));

    reply.ok();
    Ok(Flow::Done)
}

fn flush_all(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let free = Free::parse(args)?;

    let flushed = call.store().flush_all();
    let forgotten = call.state.invalidate_all();
    free.drop(flushed.len() + forgotten.len(), (flushed, forgotten));

    reply.ok();
    Ok(Flow::Done)
}

/// When the memory is freed.
pub(crate) enum Free {
    /// Before the reply.
    Now,
    /// While others are served.
    Later,
}

impl Free {
    fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        if args.is_empty() {
            return Ok(Self::Later);
        }
        let free = if args.keyword("sync") {
            Self::Now
        } else if args.keyword("async") {
            Self::Later
        } else {
            return Err(CommandError::Syntax);
        };
        args.end()?;
        Ok(free)
    }

    /// Frees `keys` many keys, or what was kept of them.
    pub(crate) fn drop(self, keys: usize, flushed: impl Send + 'static) {
        match self {
            Self::Later if keys > KEYS_FREED_AT_ONCE => {
                let name = "tailrace-free".to_owned();
                // Without a thread the memory is freed here, as the closure is dropped.
                let _ = thread::Builder::new().name(name).spawn(|| drop(flushed));
            }
            Self::Now | Self::Later => drop(flushed),
        }
    }
}

/// Fewer keys are freed sooner than a thread begins.
const KEYS_FREED_AT_ONCE: usize = 256;
