//! `SCRIPT KILL`
//!
//! Ends the script that runs. One is only ever seen to run when it is over its time.

use tailrace_protocol::ReplyWriter;

use super::of;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::script::Busy;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "script|kill",
    arity: 2,
    flags: Flags::NOSCRIPT.and(Flags::ALLOW_BUSY),
    tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
    summary: "Ends the script that runs.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    match call.state.scripts.busy() {
        None => Err(ScriptError::NotBusy.into()),
        Some(Busy { has_written: true }) => Err(ScriptError::Unkillable.into()),
        Some(Busy { has_written: false }) => {
            call.state.scripts.kill();
            reply.ok();
            Ok(Flow::Done)
        }
    }
}
