//! `CLIENT PAUSE timeout [WRITE | ALL]`, `CLIENT UNPAUSE`
//!
//! Holds the commands of all clients, or those that write, for a time in milliseconds.
//!
//! Behaviour worth knowing:
//! - A pause during a pause never shortens or weakens it.
//! - While all commands are held, `CLIENT UNPAUSE` is held too.
//! - Commands that wait already are not held; keys do not expire.

use tailrace_protocol::ReplyWriter;

use super::super::timeout_args::Timeout;
use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::gate::Hold;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|pause",
    arity: -3,
    syntax: "timeout:integer [mode@6.2.0(WRITE|ALL)]",
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Holds commands for a time.",
    since: "3.0.0",
    history: &[("6.2.0", "Takes a mode, one of which pauses writes only.")],
    ..Spec::of(run)
};

pub(super) const UNPAUSE: Spec = Spec {
    name: "client|unpause",
    arity: 2,
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Lets held commands run.",
    since: "6.2.0",
    complexity: "O(N), N being the number of held commands.",
    ..Spec::of(run_unpause)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let timeout = args.bytes()?;
    // With more than a mode, the reference looks at none of it.
    let hold = if args.len() != 1 || args.keyword("all") {
        Hold::All
    } else if args.keyword("write") {
        Hold::Writes
    } else {
        return Err(ClientError::PauseMode.into());
    };
    let until = match Timeout::parse(timeout, call)? {
        // No time at all; it may still strengthen a pause.
        Timeout::Forever => call.now.mono,
        Timeout::Until(until) => until,
    };

    call.state.gate.close(hold, until);
    call.state.on_gate(call.now.mono);

    reply.ok();
    Ok(Flow::Done)
}

fn run_unpause(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.state.gate.open();
    call.state.on_gate(call.now.mono);
    reply.ok();
    Ok(Flow::Done)
}
