//! `CONFIG HELP`

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
    name: "config|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    group: Group::Server,
    summary: "Lists the subcommands.",
    since: "5.0.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "CONFIG",
        &[
            (
                "GET <pattern> [<pattern> ...]",
                "Settings whose names match, and their values.",
            ),
            ("RESETSTAT", "Set the counters of INFO back to zero."),
            ("REWRITE", "Write the settings to the configuration file."),
            (
                "SET <name> <value> [<name> <value> ...]",
                "Change settings: all of them or none.",
            ),
        ],
    );
    Ok(Flow::Done)
}
