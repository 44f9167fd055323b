//! `SWAPDB index1 index2`
//!
//! Swaps two databases: every client sees the other one's keys under the number it selected.
//!
//! Behaviour worth knowing:
//! - A node of a cluster refuses it.
//! - Blocked readers stay with the number of their database, and are served by what came there.

use tailrace_protocol::ReplyWriter;

use super::db_args;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::serve;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "swapdb",
    arity: 3,
    syntax: "index1:integer index2:integer",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::KEYSPACE.and(Acl::DANGEROUS),
    group: Group::Server,
    summary: "Swaps two databases.",
    since: "4.0.0",
    complexity: "O(N), N being the number of keys that clients watch or wait for.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if call.state.cluster.is_some() {
        return Err(ClusterError::SwapDb.into());
    }
    let one = db_args::number(args.bytes()?, KeyspaceError::FirstDbIndex)?;
    let other = db_args::number(args.bytes()?, KeyspaceError::SecondDbIndex)?;
    let one = db_args::existing(one, call.store())?;
    let other = db_args::existing(other, call.store())?;

    for db in [one, other] {
        for key in call.state.waits.keys_with_groups(db) {
            serve::keep_attempts(call.state, db, &key);
        }
    }
    call.store().swap_dbs(one, other);

    reply.ok();
    Ok(Flow::Done)
}
