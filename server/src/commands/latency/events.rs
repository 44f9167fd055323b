//! The subcommands of `LATENCY`, for a server that samples no events.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const DOCTOR: Spec = Spec {
    name: "latency|doctor",
    arity: 2,
    summary: "Reports in words on what took long.",
    run: doctor,
    ..USUAL
};

pub(super) const GRAPH: Spec = Spec {
    name: "latency|graph",
    arity: 3,
    syntax: "event",
    summary: "Draws the samples of an event.",
    run: graph,
    ..USUAL
};

pub(super) const HISTOGRAM: Spec = Spec {
    name: "latency|histogram",
    arity: -2,
    syntax: "[command...]",
    summary: "Returns how long commands take, by percentiles.",
    since: "7.0.0",
    complexity: "O(N), N being the number of commands.",
    run: histogram,
    ..USUAL
};

pub(super) const HISTORY: Spec = Spec {
    name: "latency|history",
    arity: 3,
    syntax: "event",
    summary: "Returns the samples of an event.",
    run: none,
    ..USUAL
};

pub(super) const LATEST: Spec = Spec {
    name: "latency|latest",
    arity: 2,
    summary: "Returns the latest sample of every event.",
    run: none,
    ..USUAL
};

pub(super) const RESET: Spec = Spec {
    name: "latency|reset",
    arity: -2,
    syntax: "[event...]",
    tips: &["request_policy:all_nodes", "response_policy:agg_sum"],
    summary: "Forgets the samples of some events, or of all.",
    run: reset,
    ..USUAL
};

/// What they have in common.
const USUAL: Spec = Spec {
    flags: Flags::ADMIN
        .and(Flags::NOSCRIPT)
        .and(Flags::LOADING)
        .and(Flags::STALE),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    group: Group::Server,
    since: "2.8.13",
    ..Spec::of(none)
};

fn none(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.array(0);
    Ok(Flow::Done)
}

fn doctor(
    _: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.verbatim(REPORT);
    Ok(Flow::Done)
}

fn graph(
    _: &mut Call<'_>,
    mut args: Args<'_>,
    _: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    Err(ServerError::NoLatencySamples(args.bytes()?.to_vec()).into())
}

fn histogram(
    _: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.map(0);
    Ok(Flow::Done)
}

/// Replies with how many events had samples.
fn reset(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.integer(0);
    Ok(Flow::Done)
}

const REPORT: &[u8] = b"This server takes no samples of what takes long, so there is nothing to \
    report. SLOWLOG GET shows commands that took longer than slowlog-log-slower-than.\n";
