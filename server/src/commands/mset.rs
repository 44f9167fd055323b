//! `MSET key value [key value ...]` and `MSETNX key value [key value ...]`
//!
//! Set several strings, over whatever is there. `MSETNX` sets all of them or, if any of the keys is there,
//! none; it replies with 1 or 0.
//!
//! Behaviour worth knowing:
//! - Of a key that is named twice the last value stays.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::SetOptions;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const MSET: Spec = Spec {
    name: "mset",
    arity: -3,
    syntax: "data(key value)...",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::BY_SIZE),
    acl: Acl::STRING,
    keys: &[KeySpec::all(2, &["OW", "update"])],
    tips: &[
        "request_policy:multi_shard",
        "response_policy:all_succeeded",
    ],
    group: Group::String,
    summary: "Sets several strings.",
    since: "1.0.1",
    complexity: "O(N), N being the number of keys.",
    ..Spec::of(mset)
};

pub(super) const MSETNX: Spec = Spec {
    name: "msetnx",
    arity: -3,
    syntax: "data(key value)...",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::BY_SIZE),
    acl: Acl::STRING,
    keys: &[KeySpec::all(2, &["OW", "insert"])],
    group: Group::String,
    summary: "Sets several strings if none of the keys exists.",
    since: "1.0.1",
    complexity: "O(N), N being the number of keys.",
    ..Spec::of(msetnx)
};

fn mset(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let pairs = pairs(call, args)?;

    set(call, pairs)?;

    reply.ok();
    Ok(Flow::Done)
}

fn msetnx(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let pairs = pairs(call, args)?;

    let db = call.db;
    let store = call.store();
    let any_exists = pairs
        .iter()
        .step_by(2)
        .any(|key| store.lookup(db, key).is_some());
    if !any_exists {
        set(call, pairs)?;
    }

    reply.integer((!any_exists).into());
    Ok(Flow::Done)
}

fn pairs<'a>(call: &Call<'_>, args: Args<'a>) -> Result<Request<'a>, CommandError> {
    if args.len().is_multiple_of(2) {
        Ok(args.rest())
    } else {
        Err(CommandError::arity(call.spec))
    }
}

fn set(call: &mut Call<'_>, pairs: Request<'_>) -> Result<(), CommandError> {
    let db = call.db;
    let mut rest = pairs.iter();
    while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
        call.store().set(db, key, value, SetOptions::default())?;
    }
    Ok(())
}
