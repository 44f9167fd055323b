//! `EXPIRE key seconds [NX|XX|GT|LT]`, `PEXPIRE key milliseconds [...]`, `EXPIREAT key unix-seconds [...]`
//! and `PEXPIREAT key unix-milliseconds [...]`
//!
//! Set the deadline of a key. Reply with 1, or with 0 if the key is missing or the condition does not hold.
//!
//! Behaviour worth knowing:
//! - A deadline that is not in the future removes the key at once.
//! - For `GT` and `LT` a key without a deadline lives for ever.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::CurrentDeadline;
use tailrace_storage::DeadlineOrder;
use tailrace_storage::ExpireCondition;
use tailrace_storage::ExpireOutcome;
use tailrace_storage::UnixMillis;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const EXPIRE: Spec = Spec {
    name: "expire",
    history: &[("7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`.")],
    arity: -3,
    syntax: "key seconds:integer [condition@7.0.0(NX|XX|GT|LT)]",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RW", "update"])],
    summary: "Sets how many seconds a key has left.",
    ..Spec::of(expire)
};

pub(super) const PEXPIRE: Spec = Spec {
    name: "pexpire",
    arity: -3,
    syntax: "key milliseconds:integer [condition@7.0.0(NX|XX|GT|LT)]",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RW", "update"])],
    summary: "Sets how many milliseconds a key has left.",
    since: "2.6.0",
    history: &[("7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`.")],
    ..Spec::of(pexpire)
};

pub(super) const EXPIREAT: Spec = Spec {
    name: "expireat",
    arity: -3,
    syntax: "key unix-time-seconds:unix-time [condition@7.0.0(NX|XX|GT|LT)]",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RW", "update"])],
    summary: "Sets when a key expires, in seconds since the Unix epoch.",
    since: "1.2.0",
    history: &[("7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`.")],
    ..Spec::of(expireat)
};

pub(super) const PEXPIREAT: Spec = Spec {
    name: "pexpireat",
    arity: -3,
    syntax: "key unix-time-milliseconds:unix-time [condition@7.0.0(NX|XX|GT|LT)]",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["RW", "update"])],
    summary: "Sets when a key expires, in milliseconds since the Unix epoch.",
    since: "2.6.0",
    history: &[("7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`.")],
    ..Spec::of(pexpireat)
};

fn expire(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let now = call.now.unix();
    run(call, args, reply, MILLIS_PER_SECOND, now)
}

fn pexpire(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let now = call.now.unix();
    run(call, args, reply, 1, now)
}

fn expireat(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    run(call, args, reply, MILLIS_PER_SECOND, EPOCH)
}

fn pexpireat(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    run(call, args, reply, 1, EPOCH)
}

/// Sets a deadline that is given in units of `unit_ms` from `base` on.
fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
    unit_ms: i64,
    base: UnixMillis,
) -> Result<Flow, CommandError> {
    let (key, time) = (args.bytes()?, args.bytes()?);
    let condition = condition(args)?;
    let time = parse_i64(time).ok_or(CommandError::NotAnInteger)?;
    let deadline = resolve(time, unit_ms, base).ok_or(KeyspaceError::ExpireTime(call.spec.name))?;

    let db = call.db;
    let outcome = call.store().expire_at(db, key, deadline, condition);

    reply.integer((outcome != ExpireOutcome::Refused).into());
    Ok(Flow::Done)
}

/// The deadline, if it can be told in 64 bits. What lies before the epoch is as good as the epoch.
fn resolve(time: i64, unit_ms: i64, base: UnixMillis) -> Option<UnixMillis> {
    let base = i64::try_from(base.0).ok()?;
    let deadline = time.checked_mul(unit_ms)?.checked_add(base)?;
    Some(UnixMillis(u64::try_from(deadline).unwrap_or(0)))
}

fn condition(mut args: Args<'_>) -> Result<ExpireCondition, CommandError> {
    let (mut nx, mut xx, mut gt, mut lt) = (false, false, false, false);
    while let Some(word) = args.peek() {
        if args.keyword("nx") {
            nx = true;
        } else if args.keyword("xx") {
            xx = true;
        } else if args.keyword("gt") {
            gt = true;
        } else if args.keyword("lt") {
            lt = true;
        } else {
            return Err(KeyspaceError::UnsupportedOption(word.to_vec()).into());
        }
    }
    if nx && (xx || gt || lt) {
        return Err(KeyspaceError::NxAndOthers.into());
    }
    let order = match (gt, lt) {
        (true, true) => return Err(KeyspaceError::GtAndLt.into()),
        (true, false) => DeadlineOrder::Later,
        (false, true) => DeadlineOrder::Sooner,
        (false, false) => DeadlineOrder::Any,
    };
    let current = match (nx, xx) {
        (true, _) => CurrentDeadline::Absent,
        (false, true) => CurrentDeadline::Present,
        (false, false) => CurrentDeadline::Any,
    };
    Ok(ExpireCondition { current, order })
}

const EPOCH: UnixMillis = UnixMillis(0);
const MILLIS_PER_SECOND: i64 = 1_000;
