//! `SCRIPT LOAD script`
//!
//! Compiles a script and keeps it until `SCRIPT FLUSH`. Replies with its digest.

use tailrace_protocol::ReplyWriter;

use super::of;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "script|load",
    arity: 3,
    syntax: "script",
    flags: Flags::NOSCRIPT.and(Flags::STALE),
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    summary: "Keeps a script.",
    complexity: "O(N), N being the length of the script.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let scripts = &mut call.state.scripts;
    let slot = scripts.load(args.bytes()?, true)?;
    reply.bulk(scripts.digest(slot).unwrap_or_default());
    Ok(Flow::Done)
}
