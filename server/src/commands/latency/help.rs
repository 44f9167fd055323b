//! `LATENCY HELP`

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
    name: "latency|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    group: Group::Server,
    summary: "Lists the subcommands.",
    since: "2.8.13",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "LATENCY",
        &[
            ("DOCTOR", "A report for people."),
            (
                "GRAPH <event>",
                "A drawing of the latest samples of an event.",
            ),
            (
                "HISTOGRAM [<command> ...]",
                "How long commands take, by percentiles.",
            ),
            ("HISTORY <event>", "The latest samples of an event."),
            ("LATEST", "The latest sample of every event."),
            (
                "RESET [<event> ...]",
                "Forget the samples of some events, or of all.",
            ),
        ],
    );
    Ok(Flow::Done)
}
