//! `ACL HELP`

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::commands::encode;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "acl|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    group: Group::Server,
    summary: "Lists the subcommands.",
    since: "6.0.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "ACL",
        &[
            (
                "CAT [<category>]",
                "The categories of commands, or the commands of one of them.",
            ),
            ("GETUSER <user>", "What a user may do."),
            ("LIST", "All users, as a configuration would name them."),
            ("USERS", "The names of all users."),
            ("WHOAMI", "The name of the user that asks."),
        ],
    );
    Ok(Flow::Done)
}
