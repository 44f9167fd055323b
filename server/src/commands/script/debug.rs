//! `SCRIPT DEBUG YES | SYNC | NO [engine]`
//!
//! Not there yet: a debugger. It cannot be turned on, so clients that would drive one are told.

use tailrace_protocol::Mark;
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
    name: "script|debug",
    arity: -3,
    syntax: "mode(YES | SYNC | NO) [engine@9.1.0]",
    flags: Flags::NOSCRIPT,
    summary: "Turns debugging of scripts on or off.",
    since: "3.2.0",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let request = args.request();
    let is_alone = reply.mark() == Mark::default() && call.client().unsent_bytes() == 0;
    if !is_alone && request.len() <= 4 {
        return Err(ScriptError::DebugInPipeline.into());
    }
    let is_off = args.keyword("no");
    let is_on = !is_off && (args.keyword("yes") || args.keyword("sync"));
    if !is_off && !is_on {
        args.bytes()?;
    }
    if let Ok(engine) = args.bytes()
        && !engine.eq_ignore_ascii_case(b"lua")
    {
        return Err(ScriptError::NoEngineToDebug(engine.to_vec()).into());
    }
    if !args.is_empty() {
        return Err(CommandError::subcommand_syntax(&SPEC, request));
    }
    if is_on {
        return Err(ScriptError::NoDebugger.into());
    }
    if !is_off {
        return Err(ScriptError::DebugMode.into());
    }
    reply.ok();
    Ok(Flow::Done)
}
