//! `TESTDOUBLE HELP`, and `HELP` for each of its subcommands.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::calls;
use super::clock;
use super::cluster;
use super::fault;
use super::fixture;
use super::kill;
use super::ledger;
use super::pause;
use super::reset;
use super::snapshot;
use super::space;
use super::state;
use super::wait;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|help",
    arity: 2,
    flags: FLAGS,
    group: Group::Server,
    summary: "Says how a test holds the server.",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    write(
        reply,
        &[
            HEAD,
            clock::HELP,
            fault::HELP,
            kill::HELP,
            cluster::HELP,
            pause::HELP,
            wait::HELP,
            ledger::HELP,
            calls::HELP,
            snapshot::HELP,
            state::HELP,
            fixture::HELP,
            reset::HELP,
            space::HELP,
        ]
        .concat(),
    );
    Ok(Flow::Done)
}

/// Whether all that is said is `HELP`.
pub(super) fn is_asked(args: Args<'_>) -> bool {
    args.len() == 1 && args.peek().is_some_and(|word| is_word(word, "help"))
}

/// Writes lines of help.
pub(super) fn write(reply: &mut ReplyWriter<'_>, lines: &[&str]) {
    reply.array(lines.len());
    for line in lines {
        reply.simple(line);
    }
}

const HEAD: &[&str] = &[
    "TESTDOUBLE <subcommand> [<arg> [value] ...], or TD for short. Subcommands are:",
    "HELP",
    "    Prints this; <subcommand> HELP prints a part of it.",
];
