//! `GETEX key [EX s|PX ms|EXAT s|PXAT ms|PERSIST]`
//!
//! Replies with a string, or null for a missing key, and sets or takes away its deadline.
//!
//! Behaviour worth knowing:
//! - A deadline in the past removes the key.
//! - Redis looks for the key before it reads the time.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;
use tailrace_storage::ExpireCondition;

use super::encode;
use super::expiry_args::ExpiryArg;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "getex",
    arity: -2,
    syntax: "key [expiration(EX seconds:integer | PX milliseconds:integer | \
             EXAT unix-time-seconds:unix-time | PXAT unix-time-milliseconds:unix-time | \
             PERSIST)]",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])
        .noted("RW and UPDATE because it changes the TTL")],
    group: Group::String,
    summary: "Returns a string and sets when it expires.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let expiry = expiry(args)?;
    let db = call.db;
    if call.store().settings().compat == Compat::Redis && call.store().string(db, key)?.is_none() {
        reply.null();
        return Ok(Flow::Done);
    }
    let deadline = match expiry {
        Some(ExpiryArg::Set(deadline, text)) => Some(deadline.parse(text, call)?),
        _ => None,
    };

    let Some(value) = call.store().string(db, key)? else {
        reply.null();
        return Ok(Flow::Done);
    };
    encode::string(reply, value);
    if let Some(at) = deadline {
        let always = ExpireCondition::default();
        call.store().expire_at(db, key, at, always);
    } else if expiry == Some(ExpiryArg::Persist) {
        call.store().persist(db, key);
    }
    Ok(Flow::Done)
}

fn expiry(mut args: Args<'_>) -> Result<Option<ExpiryArg<'_>>, CommandError> {
    let mut expiry = None;
    while !args.is_empty() {
        if !ExpiryArg::take(&mut expiry, &mut args)?
            && !ExpiryArg::take_persist(&mut expiry, &mut args)?
        {
            return Err(CommandError::Syntax);
        }
    }
    Ok(expiry)
}
