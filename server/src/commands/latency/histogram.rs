//! `LATENCY HISTOGRAM [command ...]`
//!
//! Replies with how long commands took: how many calls took up to a microsecond or so, up to twice that,
//! and so on.
//!
//! Behaviour worth knowing:
//! - A command that was not called, or that there is not, is left out.
//! - A container stands for its subcommands; one of them is asked for as `xgroup|create`.

use tailrace_protocol::ReplyWriter;

use super::USUAL;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::histogram::Durations;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "latency|histogram",
    arity: -2,
    syntax: "[command...]",
    summary: "Returns how long commands take, by percentiles.",
    since: "7.0.0",
    complexity: "O(N), N being the number of commands.",
    run,
    ..USUAL
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.state.settle_times();
    let commands = &call.state.commands;
    let asked: Vec<&'static Spec> = if args.is_empty() {
        commands.all()
    } else {
        args.filter_map(|name| commands.find_full(name)).collect()
    };
    let with_subcommands = asked
        .into_iter()
        .flat_map(|spec| std::iter::once(spec).chain(spec.subcommands.iter().copied()));

    let by_command = &call.state.stats.by_command;
    let shown: Vec<(&str, &Durations)> = with_subcommands
        .filter_map(|spec| Some((spec.name, by_command.durations(spec)?)))
        .collect();
    reply.late_map(shown.len());
    for (name, durations) in shown {
        write_durations(name, durations, reply);
    }
    Ok(Flow::Done)
}

fn write_durations(name: &str, durations: &Durations, reply: &mut ReplyWriter<'_>) {
    let doublings = durations.doublings();
    reply.bulk(name.as_bytes());
    reply.map(2);
    reply.bulk(b"calls");
    reply.unsigned(durations.count());
    reply.bulk(b"histogram_usec");
    reply.late_map(doublings.len());
    for (micros, count) in doublings {
        reply.unsigned(micros);
        reply.unsigned(count);
    }
}
