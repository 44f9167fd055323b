//! `ASKING`
//!
//! Lets the next command, or the whole of the transaction that it begins, use keys of a slot that is on its way to this
//! node. Without a cluster nobody is sent elsewhere, and it is an error.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "asking",
    arity: 1,
    flags: Flags::FAST,
    acl: Acl::CONNECTION,
    group: Group::Cluster,
    summary: "Lets the next command go to a slot that is on its way to this node.",
    since: "3.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if call.state.cluster.is_none() {
        return Err(ServerError::NoCluster.into());
    }
    call.client().asking = true;
    reply.ok();
    Ok(Flow::Done)
}
