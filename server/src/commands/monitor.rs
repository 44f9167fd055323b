//! `MONITOR`
//!
//! Shows every command of every client from now on, as it is executed.
//!
//! Behaviour worth knowing:
//! - Not shown: commands for whoever runs the server, what is unknown or malformed, passwords.
//! - Commands that were queued are shown when they run, before the `EXEC` that ran them.
//! - A monitor may not use keys, nor publish. `RESET` ends it.
//! - A second `MONITOR` has no reply.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "monitor",
    arity: 1,
    flags: Flags::ADMIN
        .and(Flags::NOSCRIPT)
        .and(Flags::LOADING)
        .and(Flags::STALE),
    group: Group::Server,
    summary: "Shows every command as it is executed.",
    since: "1.0.0",
    complexity: "",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if call.in_exec() {
        return Err(ClientError::MonitorInExec.into());
    }
    if call.state.start_monitoring(call.id) {
        reply.ok();
    }
    Ok(Flow::Done)
}
