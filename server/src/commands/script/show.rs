//! `SCRIPT SHOW sha1`
//!
//! Replies with the text of a script.

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
    name: "script|show",
    arity: 3,
    syntax: "sha1",
    flags: Flags::NOSCRIPT.and(Flags::STALE),
    summary: "Shows a script.",
    since: "8.0.0",
    complexity: "O(1).",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let compat = call.state.config.settings().compat;
    let scripts = &call.state.scripts;
    let slot = scripts.find(args.bytes()?);
    let text = slot.and_then(|slot| scripts.text(slot));
    reply.bulk(text.ok_or_else(|| ScriptError::no_script(compat))?);
    Ok(Flow::Done)
}
