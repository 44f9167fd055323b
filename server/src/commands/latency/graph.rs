//! `LATENCY GRAPH event`
//!
//! Replies with a drawing of the samples of an event, for people: four rows high, with how long ago each
//! sample was written downwards below it.

use std::fmt::Write;

use tailrace_protocol::ReplyWriter;

use super::USUAL;
use crate::args::Args;
use crate::args::text;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::latency::Sample;
use crate::latency::Series;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "latency|graph",
    arity: 3,
    syntax: "event",
    summary: "Draws the samples of an event.",
    run,
    ..USUAL
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let event = args.bytes()?;
    let found = call.state.latency.find(text(event));
    let Some((name, series)) = found else {
        return Err(ServerError::NoLatencySamples(event.to_vec()).into());
    };

    let drawing = draw(name, series, call.now.wall.to_seconds());
    reply.verbatim(drawing.as_bytes());
    Ok(Flow::Done)
}

fn draw(name: &str, series: &Series, now: u64) -> String {
    let samples = series.samples();
    let millis = || samples.iter().map(|sample| sample.millis);
    let (low, high) = (millis().min().unwrap_or(0), millis().max().unwrap_or(0));
    let mut drawing = format!(
        "{name} - high {high} ms, low {low} ms (all time high {} ms)\n{}\n",
        series.max,
        "-".repeat(COLUMNS)
    );
    for (index, part) in samples.chunks(COLUMNS).enumerate() {
        if index > 0 {
            drawing.push('\n');
        }
        draw_part(part, low, high, now, &mut drawing);
    }
    drawing
}

fn draw_part(samples: &[Sample], low: u32, high: u32, now: u64, drawing: &mut String) {
    let steps = ROWS * STEPS.len();
    let range = (high - low).max(1) as usize;
    let step = |sample: &Sample| {
        let above = (sample.millis - low) as usize;
        (above * steps / range).min(steps - 1)
    };
    for row in (0..ROWS).rev() {
        let bottom = row * STEPS.len();
        let drawn = samples.iter().map(|sample| match step(sample) {
            step if step < bottom => ' ',
            step => *STEPS.get(step - bottom).unwrap_or(&'|'),
        });
        drawing.extend(drawn.chain(['\n']));
    }
    drawing.extend(samples.iter().map(|_| ' ').chain(['\n']));
    let labels: Vec<String> = samples.iter().map(|sample| age(sample.at, now)).collect();
    let label_len = labels.iter().map(String::len).max().unwrap_or(0);
    for at in 0..label_len {
        let drawn = labels.iter().map(|label| {
            label
                .as_bytes()
                .get(at)
                .map_or(' ', |&byte| char::from(byte))
        });
        drawing.extend(drawn.chain(['\n']));
    }
}

/// How long ago something was, in the largest unit that fits.
fn age(at: u64, now: u64) -> String {
    let seconds = now.saturating_sub(at);
    let (unit, per_unit) = match seconds {
        0..60 => ('s', 1),
        60..3_600 => ('m', 60),
        3_600..86_400 => ('h', 3_600),
        _ => ('d', 86_400),
    };
    let mut text = String::new();
    write!(text, "{}{unit}", seconds / per_unit).expect("a String takes any text");
    text
}

/// How wide the drawing is; what does not fit is drawn below.
const COLUMNS: usize = 80;
const ROWS: usize = 4;
/// How full a place can be, from the bottom of a row to its top.
const STEPS: [char; 3] = ['_', 'o', '#'];
