//! `EXISTS key [key ...]` and `TOUCH key [key ...]`
//!
//! Reply with how many of the keys there are; a key that is named twice counts twice.
//!
//! Behaviour worth knowing:
//! - `TOUCH` restarts the idle time of the keys, even for a client that said `CLIENT NO-TOUCH ON`.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const EXISTS: Spec = Spec {
    name: "exists",
    history: &[("3.0.3", "Takes several keys.")],
    arity: -2,
    syntax: "key...",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::all(1, &["RO"])],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    summary: "Counts how many of the given keys exist.",
    complexity: "O(N), N being the number of keys.",
    ..Spec::of(exists)
};

pub(super) const TOUCH: Spec = Spec {
    name: "touch",
    arity: -2,
    syntax: "key...",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::all(1, &["RO"])],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    summary: "Counts how many of the given keys exist, and restarts their idle time.",
    since: "3.2.1",
    complexity: "O(N), N being the number of keys.",
    ..Spec::of(touch)
};

fn exists(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let store = call.store();
    let found = args.filter(|key| store.exists(db, key)).count();

    reply.unsigned(found as u64);
    Ok(Flow::Done)
}

fn touch(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let store = call.store();
    let found = args.filter(|key| store.touch(db, key)).count();

    reply.unsigned(found as u64);
    Ok(Flow::Done)
}
