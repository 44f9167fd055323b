//! `SCRIPT EXISTS sha1 [sha1 ...]`
//!
//! Replies for each digest with 1 if the script is in the cache, else with 0.

use tailrace_protocol::ReplyWriter;

use super::of;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "script|exists",
    arity: -3,
    syntax: "sha1...",
    flags: Flags::NOSCRIPT.and(Flags::STALE),
    tips: &[
        "request_policy:all_shards",
        "response_policy:agg_logical_and",
    ],
    summary: "Says which scripts are kept.",
    complexity: "O(N), N being the number of scripts that are asked for.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.array(args.len());
    for digest in args {
        let is_known = call.state.scripts.find(digest).is_some();
        reply.integer(is_known.into());
    }
    Ok(Flow::Done)
}
