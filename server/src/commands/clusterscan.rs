//! `CLUSTERSCAN cursor ...`
//!
//! Always an error: without a cluster there are no slots to go through. `SCAN` goes through all keys.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "clusterscan",
    arity: -2,
    syntax: "cursor [MATCH match-pattern:pattern] [COUNT count:integer] [TYPE type] \
             [SLOT slot:integer]",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["not_key"])],
    tips: &[
        "nondeterministic_output",
        "request_policy:special",
        "response_policy:special",
    ],
    group: Group::Cluster,
    summary: "Goes through the keys of all nodes.",
    since: "9.1.0",
    complexity: "O(N), N being the number of keys in the reply.",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    Err(ServerError::NoCluster.into())
}
