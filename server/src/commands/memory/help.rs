//! `MEMORY HELP`

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
    name: "memory|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    group: Group::Server,
    summary: "Lists the subcommands of MEMORY.",
    since: "4.0.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(reply, "MEMORY", LINES);
    Ok(Flow::Done)
}

const LINES: &[(&str, &str)] = &[
    ("DOCTOR", "Say what is wrong with the use of memory."),
    (
        "MALLOC-STATS",
        "Show what is known of the memory of the process.",
    ),
    (
        "PURGE",
        "Give unused memory back; this allocator does so by itself.",
    ),
    ("STATS", "Show what takes how much memory."),
    (
        "USAGE <key> [SAMPLES <count>]",
        "The bytes that a key and its value take. They are known, so nothing is sampled.",
    ),
];
