//! `LATENCY LATEST | HISTORY event | RESET [event ...]`

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;

use super::USUAL;
use crate::args::Args;
use crate::args::is_word;
use crate::args::text;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const HISTORY: Spec = Spec {
    name: "latency|history",
    arity: 3,
    syntax: "event",
    summary: "Returns the samples of an event.",
    run: history,
    ..USUAL
};

pub(super) const LATEST: Spec = Spec {
    name: "latency|latest",
    arity: 2,
    summary: "Returns the latest sample of every event.",
    run: latest,
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

/// Replies with the worst sample of each second, oldest first.
fn history(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let event = text(args.bytes()?);

    let Some((_, series)) = call.state.latency.find(event) else {
        reply.array(0);
        return Ok(Flow::Done);
    };
    reply.late_array(series.samples().len());
    for sample in series.samples() {
        reply.array(2);
        reply.unsigned(sample.at);
        reply.unsigned(sample.millis.into());
    }
    Ok(Flow::Done)
}

/// Replies with when each event happened last and how long that took, how long it took at worst, how
/// long all of them took together, and how many there were. Redis tells no more than the worst.
fn latest(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let columns = match call.state.config.settings().compat {
        Compat::Valkey => 6,
        Compat::Redis => 4,
    };

    let events = call.state.latency.iter();
    reply.array(events.len());
    for (name, series) in events {
        let latest = series.latest();
        let figures = [
            latest.at,
            latest.millis.into(),
            series.max.into(),
            series.sum.into(),
            series.count.into(),
        ];
        reply.array(columns);
        reply.bulk(name.as_bytes());
        for figure in &figures[..columns - 1] {
            reply.unsigned(*figure);
        }
    }
    Ok(Flow::Done)
}

/// Replies with how many events had samples.
fn reset(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let latency = &mut call.state.latency;
    let forgotten = if args.is_empty() {
        latency.forget(|_| true)
    } else {
        let forget = |event| latency.forget(|name| is_word(event, name));
        args.map(forget).sum()
    };

    reply.unsigned(forgotten as u64);
    Ok(Flow::Done)
}
