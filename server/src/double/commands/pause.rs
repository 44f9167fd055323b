//! `TESTDOUBLE PAUSE` and `TESTDOUBLE RESUME`
//!
//! Stops the whole server, as a host does that hangs, and lets it go on.
//!
//! Behaviour worth knowing:
//! - While it is stopped nothing is executed and nothing becomes due: not a command of any kind, not a deadline,
//!   not the end of a wait. Connections are accepted. TESTDOUBLE itself goes on, and so does the clock.
//! - When `RESUME` replies, all that had become due has happened, and then what clients had sent, in the order in which it came.
//! - What a fault keeps back and `RELEASE` lets go is sent or executed like anything else: a reply at once, a command after the end.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::help;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::double::jobs;
use crate::double::jobs::Task;
use crate::double::nodes;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const PAUSE: Spec = Spec {
    name: "testdouble|pause",
    arity: -2,
    syntax: "[help]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Stops the whole server.",
    ..Spec::of(pause)
};

pub(super) const RESUME: Spec = Spec {
    name: "testdouble|resume",
    arity: -2,
    syntax: "[help]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Lets the server go on.",
    ..Spec::of(resume)
};

fn pause(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if wants_help(args, reply)? {
        return Ok(Flow::Done);
    }
    Ok(nodes::everywhere(call, reply, |state| {
        state.set_paused(true);
    }))
}

fn resume(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if wants_help(args, reply)? {
        return Ok(Flow::Done);
    }
    Ok(jobs::leave(call, Task::Resume))
}

/// Whether `HELP` was asked for, which is given then.
fn wants_help(mut args: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<bool, CommandError> {
    let wants_help = args.peek().is_some_and(|word| is_word(word, "help"));
    if wants_help {
        args.bytes()?;
        help::write(reply, HELP);
    }
    args.end()?;
    Ok(wants_help)
}

pub(super) const HELP: &[&str] = &[
    "PAUSE",
    "    Stops the whole server: nothing is executed and nothing becomes due. TESTDOUBLE goes on.",
    "RESUME",
    "    Lets it go on. What had become due, and what clients had sent, has happened when it replies.",
];
