//! `SCRIPT DEBUG|EXISTS|FLUSH|HELP|KILL|LOAD|SHOW`
//!
//! The cache of scripts, and the script that runs.

mod debug;
mod exists;
mod flush;
mod kill;
mod load;
mod show;

use tailrace_protocol::ReplyWriter;

use super::encode;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Scripting,
    summary: "Keeps scripts, shows them and ends them.",
    since: "2.6.0",
    ..Spec::container(
        "script",
        &[
            &debug::SPEC,
            &exists::SPEC,
            &flush::SPEC,
            &HELP,
            &kill::SPEC,
            &load::SPEC,
            &show::SPEC,
        ],
    )
};

const HELP: Spec = Spec {
    name: "script|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    summary: "Says what the subcommands do.",
    since: "5.0.0",
    ..of(help)
};

/// What all subcommands have in common.
const fn of(run: crate::spec::Handler) -> Spec {
    Spec {
        acl: Acl::SCRIPTING,
        group: Group::Scripting,
        since: "2.6.0",
        ..Spec::of(run)
    }
}

fn help(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "SCRIPT",
        &[
            (
                "DEBUG (YES|SYNC|NO) [<engine_name>]",
                "Turn debugging of scripts on or off. Only NO is possible.",
            ),
            (
                "EXISTS <sha1> [<sha1> ...]",
                "Say of each script whether it is in the cache.",
            ),
            ("FLUSH [ASYNC|SYNC]", "Forget all scripts."),
            ("KILL", "End the script that runs, unless it has written."),
            ("LOAD <script>", "Keep a script, and reply with its digest."),
            ("SHOW <sha1>", "Show the text of a script."),
        ],
    );
    Ok(Flow::Done)
}
