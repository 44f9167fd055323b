//! `OBJECT ENCODING key`, `OBJECT FREQ key`, `OBJECT IDLETIME key` and `OBJECT REFCOUNT key`
//!
//! Reply with one fact about a key, or with null if it is missing.
//!
//! Behaviour worth knowing:
//! - Values are never shared, so a reference count is always 1.
//! - How often a key is used is not counted: keys are never evicted.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::KeyFacts;
use tailrace_storage::Millis;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const ENCODING: Spec = Spec {
    name: "object|encoding",
    arity: 3,
    syntax: "key",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::at(2, &["RO"])],
    tips: &["nondeterministic_output"],
    summary: "Tells how a value is kept.",
    since: "2.2.3",
    ..Spec::of(encoding)
};

pub(super) const FREQ: Spec = Spec {
    name: "object|freq",
    arity: 3,
    syntax: "key",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::at(2, &["RO"])],
    tips: &["nondeterministic_output"],
    summary: "Tells how often a key is used, if that is counted.",
    since: "4.0.0",
    ..Spec::of(freq)
};

pub(super) const IDLETIME: Spec = Spec {
    name: "object|idletime",
    arity: 3,
    syntax: "key",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::at(2, &["RO"])],
    tips: &["nondeterministic_output"],
    summary: "Tells for how many seconds a key was not used.",
    since: "2.2.3",
    ..Spec::of(idletime)
};

pub(super) const REFCOUNT: Spec = Spec {
    name: "object|refcount",
    arity: 3,
    syntax: "key",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::at(2, &["RO"])],
    tips: &["nondeterministic_output"],
    summary: "Tells how many keys share a value.",
    since: "2.2.3",
    ..Spec::of(refcount)
};

fn encoding(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let facts = facts(call, args)?;
    let name = facts.map(|facts| facts.encoding.name());

    match name {
        Some(name) => reply.bulk(name.as_bytes()),
        None => reply.null(),
    }
    Ok(Flow::Done)
}

fn freq(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if facts(call, args)?.is_some() {
        return Err(KeyspaceError::FrequencyNotTracked.into());
    }

    reply.null();
    Ok(Flow::Done)
}

fn idletime(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let facts = facts(call, args)?;

    match facts {
        Some(facts) => {
            // Seconds of the clock that have begun since.
            let now = Millis(call.now.unix().0);
            let used_at = Millis(now.0.saturating_sub(facts.idle.0));
            reply.unsigned(now.to_seconds() - used_at.to_seconds());
        }
        None => reply.null(),
    }
    Ok(Flow::Done)
}

fn refcount(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let facts = facts(call, args)?;

    match facts {
        Some(_) => reply.integer(1),
        None => reply.null(),
    }
    Ok(Flow::Done)
}

fn facts(call: &mut Call<'_>, mut args: Args<'_>) -> Result<Option<KeyFacts>, CommandError> {
    let key = args.bytes()?;
    let db = call.db;
    Ok(call.store().facts(db, key))
}
