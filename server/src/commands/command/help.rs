//! `COMMAND HELP`

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::commands::encode;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command|help",
    arity: 2,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Server,
    summary: "Lists the subcommands.",
    since: "5.0.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "COMMAND",
        &[
            ("(no subcommand)", "Facts about all commands."),
            ("COUNT", "How many commands there are."),
            (
                "DOCS [<command> ...]",
                "What some commands do, or all, in words.",
            ),
            (
                "GETKEYS <command> [<arg> ...]",
                "The keys of a whole command.",
            ),
            (
                "GETKEYSANDFLAGS <command> [<arg> ...]",
                "The keys of a whole command, and what would happen to them.",
            ),
            ("INFO [<command> ...]", "Facts about some commands, or all."),
            (
                "LIST [FILTERBY MODULE|ACLCAT|PATTERN <value>]",
                "The names of all commands, or of some.",
            ),
        ],
    );
    Ok(Flow::Done)
}
