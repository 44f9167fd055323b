//! `SCRIPT KILL`
//!
//! Ends the script that runs. When this command gets here none does: while one runs for long, it
//! is answered elsewhere.

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
    name: "script|kill",
    arity: 2,
    flags: Flags::NOSCRIPT.and(Flags::ALLOW_BUSY),
    tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
    summary: "Ends the script that runs.",
    ..of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    Err(ScriptError::NotBusy.into())
}
