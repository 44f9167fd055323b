//! `ROLE`
//!
//! Replies that this server is a primary without replicas.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "role",
    arity: 1,
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST),
    acl: Acl::ADMIN.and(Acl::DANGEROUS),
    group: Group::Server,
    summary: "Tells the server's part in replication.",
    since: "2.8.12",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if let Some(primary) = call.state.primary_endpoint(call.id) {
        reply.array(5);
        reply.bulk(b"slave");
        reply.bulk(primary.ip.as_bytes());
        reply.unsigned(primary.port.into());
        let is_down = call.state.is_primary_down(call.id);
        reply.bulk(if is_down { b"connect" } else { b"connected" });
        reply.integer(1);
        return Ok(Flow::Done);
    }
    reply.array(3);
    reply.bulk(b"master");
    // Nothing was ever replicated.
    reply.integer(0);
    reply.late_array(0);
    Ok(Flow::Done)
}
