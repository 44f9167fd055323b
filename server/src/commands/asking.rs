//! `ASKING`
//!
//! Always an error: without a cluster nobody is sent elsewhere.

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

fn run(_: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    Err(ServerError::NoCluster.into())
}
