//! `OBJECT HELP`

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::commands::encode;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "object|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    acl: Acl::KEYSPACE,
    summary: "Lists the subcommands of OBJECT.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(reply, "OBJECT", LINES);
    Ok(Flow::Done)
}

const LINES: &[(&str, &str)] = &[
    (
        "ENCODING <key>",
        "How the value is kept: int, embstr, raw or stream.",
    ),
    (
        "FREQ <key>",
        "How often the key is used; an error, as no policy counts it.",
    ),
    (
        "IDLETIME <key>",
        "For how many seconds the key was not used.",
    ),
    ("REFCOUNT <key>", "How many keys share the value: 1."),
];
