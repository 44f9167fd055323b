//! `SCRIPT FLUSH [ASYNC | SYNC]`
//!
//! Forgets all scripts, and begins with a new interpreter. Both ways are the same.

use tailrace_protocol::ReplyWriter;

use super::of;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "script|flush",
    history: &[("6.2.0", "Takes `ASYNC` and `SYNC`.")],
    arity: -2,
    syntax: "[flush-type@6.2.0(ASYNC | SYNC)]",
    flags: Flags::NOSCRIPT.and(Flags::STALE),
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    summary: "Forgets all scripts.",
    complexity: "O(N), N being the number of scripts.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let is_fine = args.is_empty() || args.keyword("sync") || args.keyword("async");
    if !is_fine || !args.is_empty() {
        return Err(ScriptError::FlushMode.into());
    }
    call.state.scripts.flush();
    reply.ok();
    Ok(Flow::Done)
}
