//! `TESTDOUBLE KILL CLIENT name|id` and `TESTDOUBLE KILL CONSUMER stream group consumer`
//!
//! Closes connections as a network does that fails: at once, with whatever has not left. Replies with how many.
//!
//! Behaviour worth knowing:
//! - `CLIENT` by name closes all clients of the name, and never the one that asks.
//! - `CONSUMER` closes those that read, or claimed, in the group as this consumer last. What it has pending stays: it died
//!   between reading and acknowledging.
//! - What a script reads is its own business.
//! - In a cluster this is about the clients of all nodes.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use super::wait;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::jobs::Outcome;
use crate::double::nodes;
use crate::double::victims::Victims;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|kill",
    arity: -3,
    syntax: "what [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Closes connections as a network does that fails.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let what = args.bytes()?;
    let victims = match what.to_ascii_lowercase().as_slice() {
        b"help" => {
            args.end()?;
            help::write(reply, HELP);
            return Ok(Flow::Done);
        }
        b"client" => Victims::Named(args.bytes()?.to_vec()),
        b"consumer" => Victims::Reading {
            place: wait::place(&mut args)?,
            consumer: args.bytes()?.to_vec(),
        },
        _ => return Err(syntax::unknown("KILL", what, "CLIENT or CONSUMER")),
    };
    args.end()?;
    let caller = (double(call).engine, call.id);
    if !double(call).stage.is_alone() {
        let failure = victims.describe();
        let act = move |state: &mut State, _| victims.kill(state, Some(caller)).0;
        return Ok(nodes::on_each(call, act, |count| match count {
            0 => Outcome::Failed(failure),
            count => Outcome::Count(count),
        }));
    }
    match victims.kill(call.state, Some(caller)) {
        (0, others) => Err(fail(format!("{}; there are: {others}", victims.describe()))),
        (count, _) => {
            reply.unsigned(count as u64);
            Ok(Flow::Done)
        }
    }
}

pub(super) const HELP: &[&str] = &[
    "KILL CLIENT <name>|<id>",
    "    Closes connections at once, with all that has not left.",
    "KILL CONSUMER <stream> <group> <consumer>",
    "    Closes what reads as a consumer; what it has pending stays so.",
];
