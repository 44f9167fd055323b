//! `LATENCY DOCTOR`
//!
//! Replies with a report on the events that took long, for people, and with what to do about them.

use std::fmt::Write;

use tailrace_protocol::ReplyWriter;

use super::USUAL;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::config::Settings;
use crate::error::CommandError;
use crate::latency::LatencyEvents;
use crate::latency::Series;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "latency|doctor",
    arity: 2,
    summary: "Reports in words on what took long.",
    run,
    ..USUAL
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let events = &call.state.latency;
    let now = call.now.wall.to_seconds();

    let report = if events.iter().len() > 0 {
        report(events, call.state.config.settings(), now)
    } else if events.is_on() {
        "Nothing took so long since the start, or since LATENCY RESET.\n".to_owned()
    } else {
        NOTHING_IS_SAMPLED.to_owned()
    };
    reply.verbatim(report.as_bytes());
    Ok(Flow::Done)
}

fn report(events: &LatencyEvents, settings: &Settings, now: u64) -> String {
    let mut report = "This is what took long in this server.\n\n".to_owned();
    for (index, (name, series)) in events.iter().enumerate() {
        let summary = summary(series, now);
        writeln!(report, "{}. {name}: {summary}", index + 1).expect("a String takes any text");
    }
    report.push_str("\nWhat can be done about it:\n\n");
    let threshold_us = settings.latency_monitor_threshold_ms.saturating_mul(1_000);
    if events.find(b"command").is_some() {
        let logged_above = settings.slowlog_log_slower_than_us;
        if logged_above.is_none_or(|micros| micros > threshold_us) || settings.slowlog_max_len == 0
        {
            writeln!(
                report,
                "- Not all of these commands are logged. CONFIG SET slowlog-log-slower-than \
                 {threshold_us} logs them."
            )
            .expect("a String takes any text");
        }
        report.push_str(SLOW_COMMANDS);
    }
    if events.find(b"fast-command").is_some() {
        report.push_str(SLOW_SYSTEM);
    }
    if events.find(b"expire-cycle").is_some() {
        report.push_str(MANY_DEADLINES);
    }
    report
}

/// What is known of an event: how often, how long, how evenly.
fn summary(series: &Series, now: u64) -> String {
    let samples = series.samples();
    let count = samples.len() as u64;
    let millis = || samples.iter().map(|sample| u64::from(sample.millis));
    let average = millis().sum::<u64>() / count;
    let deviation = millis().map(|millis| millis.abs_diff(average)).sum::<u64>() / count;
    let seconds = now.saturating_sub(samples[0].at).max(1);
    format!(
        "{count} spikes (average {average}ms, mean deviation {deviation}ms, one in {:.2} sec). The worst \
         ever took {}ms.",
        per_spike(seconds, count),
        series.max
    )
}

#[expect(
    clippy::cast_precision_loss,
    reason = "two digits after the point are shown"
)]
fn per_spike(seconds: u64, count: u64) -> f64 {
    seconds as f64 / count as f64
}

const NOTHING_IS_SAMPLED: &str = "Nothing is watched in this server, so nothing is known. CONFIG SET \
    latency-monitor-threshold <milliseconds> watches for what takes so long.\n";
const SLOW_COMMANDS: &str = "- SLOWLOG GET shows which commands take long, and how they were called.\n\
    - Deleting and trimming very large values takes time. Keep them smaller, or trim more often.\n";
const SLOW_SYSTEM: &str = "- Commands that are quick by themselves took long, so the system gave this \
    process no time. Lower the load of the machine, move the server to one of its own, or look for \
    others on the same host.\n";
const MANY_DEADLINES: &str = "- Many keys, or very large ones, were due at once. Give keys that are \
    written together deadlines that lie apart.\n";
