//! `MEMORY PURGE`
//!
//! Does nothing: the allocator gives unused memory back by itself.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "memory|purge",
    arity: 2,
    flags: Flags::LOADING,
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    group: Group::Server,
    summary: "Gives unused memory back.",
    since: "4.0.0",
    complexity: "O(1)",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.ok();
    Ok(Flow::Done)
}
