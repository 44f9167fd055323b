//! `SLOWLOG HELP`

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
    name: "slowlog|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    group: Group::Server,
    summary: "Lists the subcommands.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "SLOWLOG",
        &[
            (
                "GET [<count>]",
                "The newest entries; 10 unless said otherwise, all of them with -1.",
            ),
            ("LEN", "How many entries there are."),
            ("RESET", "Forget all entries."),
        ],
    );
    Ok(Flow::Done)
}
