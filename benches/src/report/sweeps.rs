//! Sweeps as a picture: for each action a field with a line for each thing that there is more and more of.

use plotters::prelude::Circle;
use plotters::prelude::PathElement;
use plotters::prelude::RGBColor;
use plotters::style::Color;

use super::draw::Area;
use super::draw::BETTER;
use super::draw::Drawn;
use super::draw::FAINT;
use super::draw::GRID;
use super::draw::INK;
use super::draw::WORSE;
use super::draw::bold;
use super::draw::centered;
use super::draw::ending;
use super::draw::plain;
use super::draw::svg;
use super::draw::write;
use super::format::short;
use crate::fault::Fault;
use crate::sweeps::Sweep;

/// Renders sweeps as an SVG picture, with a line below that says where and when they were measured.
///
/// # Errors
///
/// [`Fault::Io`] if it cannot be drawn.
pub(crate) fn render(sweeps: &[Sweep], foot: &str) -> Result<String, Fault> {
    svg((WIDTH, HEIGHT), |area| {
        write(area, TITLE, (MARGIN, 36), &bold(24, &INK))?;
        write(area, HOW, (MARGIN, 64), &plain(13, &FAINT))?;
        for (&(action, title), corner) in FIELDS.iter().zip(CORNERS) {
            let lines: Vec<&Sweep> = sweeps.iter().filter(|s| s.action == action).collect();
            draw_field(area, title, &lines, corner)?;
        }
        write(area, foot, (MARGIN, HEIGHT - 24), &plain(12, &FAINT))
    })
}

fn draw_field(area: &Area<'_>, title: &str, lines: &[&Sweep], (left, top): (i32, i32)) -> Drawn {
    write(area, title, (left, top), &bold(15, &INK))?;
    let costs = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .map(|&(_, nanos)| nanos)
    };
    // Twice the most, and from zero on: what is flat is to look flat, and what doubles is to be seen.
    let most = costs().fold(0.0, f64::max) * 2.0;
    let field = Field {
        left: left + 56,
        top: top + 18,
        most: most.max(1.0),
    };
    let style = ending(&plain(12, &FAINT));
    for part in 0..=2 {
        let nanos = field.most / 2.0 * f64::from(part);
        let y = field.y(nanos);
        let line = vec![(field.left, y), (field.left + FIELD_WIDTH, y)];
        area.draw(&PathElement::new(line, GRID.stroke_width(1)))?;
        let text = if part == 0 {
            "0".to_owned()
        } else {
            time(nanos)
        };
        write(area, &text, (field.left - 8, y), &style)?;
    }
    for (count, name) in TICKS {
        let at = (field.x(count), field.top + FIELD_HEIGHT + 14);
        write(area, name, at, &centered(&plain(12, &FAINT)))?;
    }
    for (number, line) in lines.iter().enumerate() {
        draw_line(area, &field, line, number)?;
    }
    Ok(())
}

fn draw_line(area: &Area<'_>, field: &Field, sweep: &Sweep, number: usize) -> Drawn {
    let color = color_of(&sweep.by);
    let at = |&(count, nanos): &(u64, f64)| (field.x(count), field.y(nanos));
    let places: Vec<(i32, i32)> = sweep.points.iter().map(at).collect();
    area.draw(&PathElement::new(places.clone(), color.stroke_width(2)))?;
    for place in places {
        area.draw(&Circle::new(place, 4, color.filled()))?;
    }
    let last = sweep.points.last().map_or(0.0, |&(_, nanos)| nanos);
    let text = format!(
        "{}: {} at the end, {}× the first at most",
        sweep.by,
        time(last),
        short(sweep.growth())
    );
    let row = i32::try_from(number).unwrap_or(0);
    let at = (field.left + 10, field.top + 10 + 18 * row);
    write(area, &text, at, &plain(12, color))
}

/// What there is more of has one colour in all fields.
fn color_of(by: &str) -> &'static RGBColor {
    match by {
        "groups" => &WORSE,
        "pending entries" => &INK,
        _ => &BETTER,
    }
}

/// Writes nanoseconds for people.
fn time(nanos: f64) -> String {
    match nanos {
        ..1e3 => format!("{} ns", short(nanos)),
        ..1e6 => format!("{} µs", short(nanos / 1e3)),
        _ => format!("{} ms", short(nanos / 1e6)),
    }
}

/// Where the costs of an action are drawn.
struct Field {
    left: i32,
    top: i32,
    /// Nanoseconds at the top.
    most: f64,
}

impl Field {
    /// Counts are on a scale of powers of ten.
    fn x(&self, count: u64) -> i32 {
        #[expect(clippy::cast_precision_loss, reason = "a place has three digits")]
        let power = (count.max(1) as f64).log10();
        let part = (power - POWERS.0) / (POWERS.1 - POWERS.0);
        self.left + pixels(part, FIELD_WIDTH)
    }

    fn y(&self, nanos: f64) -> i32 {
        self.top + FIELD_HEIGHT - pixels(nanos / self.most, FIELD_HEIGHT)
    }
}

fn pixels(part: f64, of: i32) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part of the picture's width"
    )]
    let pixels = (part.clamp(-1.0, 1.0) * f64::from(of)).round() as i32;
    pixels
}

const TITLE: &str = "What things cost, the more there is";
const HOW: &str = "Time of an action in storage, the quickest of 30 samples, from a thousand to ten millions; the upper edge is twice the most.";

/// Actions, and what is written above their fields.
const FIELDS: [(&str, &str); 4] = [
    ("add", "Add 100 entries"),
    ("read", "Read the last 10 entries"),
    ("acknowledge", "Deliver 10 entries and acknowledge them"),
    ("wake", "Find the longest waiting, and wait again"),
];

const CORNERS: [(i32, i32); 4] = [
    (MARGIN, 104),
    (MARGIN + 540, 104),
    (MARGIN, 384),
    (MARGIN + 540, 384),
];

const TICKS: [(u64, &str); 5] = [
    (1_000, "1,000"),
    (10_000, "10,000"),
    (100_000, "100,000"),
    (1_000_000, "1 million"),
    (10_000_000, "10 million"),
];

/// The powers of ten at the left and at the right edge, with some room beside the ticks.
const POWERS: (f64, f64) = (2.8, 7.2);

const WIDTH: i32 = 1_140;
const HEIGHT: i32 = 700;
const MARGIN: i32 = 36;
const FIELD_WIDTH: i32 = 450;
const FIELD_HEIGHT: i32 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_line_for_each_thing_that_there_is_more_of() {
        let sweep = |by: &str, most| Sweep {
            action: "add",
            by: by.to_owned(),
            points: vec![(1_000, 9_000.0), (10_000_000, most)],
        };

        let svg = render(
            &[sweep("entries", 9_900.0), sweep("groups", 18_000.0)],
            "there",
        )
        .unwrap();

        for text in [
            "entries: 9.90 µs at the end, 1.10× the first at most",
            "groups: 18.0 µs at the end, 2.00× the first at most",
            "Add 100 entries",
            "36.0 µs",
            "there",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn what_is_flat_lies_on_one_height() {
        let field = Field {
            left: 0,
            top: 0,
            most: 100.0,
        };

        assert_eq!(field.y(0.0), FIELD_HEIGHT);
        assert_eq!(field.y(50.0), FIELD_HEIGHT / 2);
        let steps = TICKS.map(|(count, _)| field.x(count));
        assert!((steps[1] - steps[0]).abs_diff(steps[4] - steps[3]) <= 1);
    }
}
