//! `CLUSTER KEYSLOT key`
//!
//! Replies with the slot of a key: that of what stands between its first `{` and the next `}`, if
//! anything does.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::key_slot;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|keyslot",
    arity: 3,
    syntax: "key:string",
    flags: Flags::STALE,
    group: Group::Cluster,
    summary: "Tells the slot of a key.",
    since: "3.0.0",
    complexity: "O(N), N being the length of the key.",
    ..Spec::of(run)
};

fn run(
    _: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    reply.unsigned(key_slot(key).into());
    Ok(Flow::Done)
}
