//! `WATCH key [key ...]`
//!
//! The next `EXEC` executes nothing if one of the keys changes before it.
//!
//! Behaviour worth knowing:
//! - One's own writes count, and so does expiry.
//! - Reading through a group, acknowledging and claiming are no changes.

use tailrace_protocol::ReplyWriter;

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
    name: "watch",
    arity: -2,
    syntax: "key...",
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::NO_MULTI)
        .and(Flags::ALLOW_BUSY),
    acl: Acl::TRANSACTION,
    keys: &[KeySpec::all(1, &["RO"])],
    group: Group::Transactions,
    summary: "Makes the next transaction depend on keys staying as they are.",
    since: "2.2.0",
    complexity: "O(1) for every key.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    for key in args {
        call.state.watch(call.id, db, key);
    }
    reply.ok();
    Ok(Flow::Done)
}
