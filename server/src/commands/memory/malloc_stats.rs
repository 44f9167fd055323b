//! `MEMORY MALLOC-STATS`
//!
//! Replies with what the system knows of the process's memory: the allocator itself counts nothing.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::process;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "memory|malloc-stats",
    arity: 2,
    flags: Flags::LOADING,
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    group: Group::Server,
    summary: "Shows what the allocator counts.",
    since: "4.0.0",
    complexity: "Depends on how much memory is allocated, could be slow",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    let mut report =
        "The allocator is mimalloc, which counts nothing. The system counts:\n".to_owned();
    for line in process::memory_lines() {
        report.push_str(&line);
        report.push('\n');
    }
    reply.verbatim(report.as_bytes());
    Ok(Flow::Done)
}
