//! `TTL key`, `PTTL key`, `EXPIRETIME key` and `PEXPIRETIME key`
//!
//! Reply with how long a key has left, or when it expires, in seconds or milliseconds; with -1 if it never
//! does, and with -2 if it is missing.
//!
//! Behaviour worth knowing:
//! - Seconds are rounded to the nearest.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Lifetime;
use tailrace_storage::UnixMillis;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const TTL: Spec = Spec {
    name: "ttl",
    history: &[("2.8.0", "Replies with -2 if there is no key.")],
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RO", "access"])],
    tips: &["nondeterministic_output"],
    summary: "Tells how many seconds a key has left.",
    ..Spec::of(ttl)
};

pub(super) const PTTL: Spec = Spec {
    name: "pttl",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RO", "access"])],
    tips: &["nondeterministic_output"],
    summary: "Tells how many milliseconds a key has left.",
    since: "2.6.0",
    history: &[("2.8.0", "Replies with -2 if there is no key.")],
    ..Spec::of(pttl)
};

pub(super) const EXPIRETIME: Spec = Spec {
    name: "expiretime",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RO", "access"])],
    summary: "Tells when a key expires, in seconds since the Unix epoch.",
    since: "7.0.0",
    ..Spec::of(expiretime)
};

pub(super) const PEXPIRETIME: Spec = Spec {
    name: "pexpiretime",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RO", "access"])],
    summary: "Tells when a key expires, in milliseconds since the Unix epoch.",
    since: "7.0.0",
    ..Spec::of(pexpiretime)
};

fn ttl(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let now = call.now.unix();
    run(call, args, reply, |at| to_seconds(at.since(now).0))
}

fn pttl(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let now = call.now.unix();
    run(call, args, reply, |at| at.since(now).0)
}

fn expiretime(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    run(call, args, reply, |at| to_seconds(at.0))
}

fn pexpiretime(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    run(call, args, reply, |at| at.0)
}

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
    shown: impl FnOnce(UnixMillis) -> u64,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    match call.store().lifetime(db, key) {
        None => reply.integer(-2),
        Some(Lifetime::Unlimited) => reply.integer(-1),
        Some(Lifetime::Until(deadline)) => reply.unsigned(shown(deadline)),
    }
    Ok(Flow::Done)
}

fn to_seconds(millis: u64) -> u64 {
    millis.saturating_add(500) / 1_000
}
