//! Results as a picture: how many times better, on a scale of doublings.
//!
//! Workloads have units of their own, so that what they share is the ratio. On a scale of doublings half
//! as fast lies as far from the middle as twice as fast.

use plotters::prelude::Circle;
use plotters::prelude::PathElement;
use plotters::prelude::RGBColor;
use plotters::prelude::Rectangle;
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
use super::format::times;
use crate::fault::Fault;
use crate::results::Figure;
use crate::results::Results;
use crate::results::Row;
use crate::workloads::Target;

/// Renders the ratios of all workloads as an SVG picture.
///
/// # Errors
///
/// [`Fault::Io`] if the picture cannot be drawn.
pub(super) fn render(results: &Results) -> Result<String, Fault> {
    let rows = i32::try_from(results.rows.len())
        .unwrap_or(ROWS_MAX)
        .min(ROWS_MAX);
    let height = TOP + rows * ROW_HEIGHT + FOOTER;
    svg((WIDTH, height), |area| draw(area, results, rows))
}

fn draw(area: &Area<'_>, results: &Results, rows: i32) -> Drawn {
    let bottom = TOP + rows * ROW_HEIGHT;
    let scale = Scale::of(&results.rows);
    draw_head(area, results, &scale)?;
    draw_grid(area, &scale, bottom)?;
    for (number, row) in (0..rows).zip(&results.rows) {
        let middle = TOP + number * ROW_HEIGHT + ROW_HEIGHT / 2;
        draw_row(area, row, &scale, middle)?;
    }
    let at = (MARGIN, bottom + FOOTER - 24);
    write(area, &foot(results), at, &plain(12, &FAINT))
}

/// Where it ran, and how much of it.
fn foot(results: &Results) -> String {
    let runs = results
        .rows
        .first()
        .map_or(0, |row| row.subject.runs().len());
    let scale = match results.scale {
        1.0 => String::new(),
        scale => format!(", each of {scale}× the full work"),
    };
    format!("{}, {}; {runs} runs{scale}", results.date, results.machine)
}

fn draw_head(area: &Area<'_>, results: &Results, scale: &Scale) -> Drawn {
    let title = format!("{} against {}", results.subject, results.against);
    write(area, &title, (MARGIN, 36), &bold(24, &INK))?;
    let has_floor = results.rows.iter().any(|row| row.floor.is_some());
    let floor = if has_floor {
        " Ring: a server that only parses."
    } else {
        ""
    };
    let how = format!("{HOW}{floor}");
    write(area, &how, (MARGIN, 64), &plain(13, &FAINT))?;

    let one = scale.x(1.0);
    let style = ending(&bold(13, &WORSE));
    write(
        area,
        &format!("‹ {}", results.against),
        (one - 10, 98),
        &style,
    )?;
    write(
        area,
        &format!("{} ›", results.subject),
        (one + 10, 98),
        &bold(13, &BETTER),
    )?;
    let style = ending(&plain(12, &FAINT));
    write(area, &results.subject, (SUBJECT_X, 98), &style)?;
    write(area, &results.against, (AGAINST_X, 98), &style)?;
    write(area, "times better", (WIDTH - MARGIN, 98), &style)
}

fn draw_grid(area: &Area<'_>, scale: &Scale, bottom: i32) -> Drawn {
    for (ratio, name) in scale.ticks() {
        let x = scale.x(ratio);
        let (color, width) = if name == "1" { (&INK, 2) } else { (&GRID, 1) };
        let line = vec![(x, TOP), (x, bottom)];
        area.draw(&PathElement::new(line, color.stroke_width(width)))?;
        let style = centered(&plain(12, &FAINT));
        write(area, &format!("{name}×"), (x, bottom + 16), &style)?;
    }
    Ok(())
}

fn draw_row(area: &Area<'_>, row: &Row, scale: &Scale, middle: i32) -> Drawn {
    let ratio = row.ratio();
    let color = color_of(ratio);
    write(area, &row.name(), (MARGIN, middle - 8), &bold(15, &INK))?;
    write(
        area,
        &format!("{}: {}", row.facts.brief, row.facts.unit.name),
        (MARGIN, middle + 10),
        &plain(12, &FAINT),
    )?;

    let (one, dot) = (scale.x(1.0), scale.x(ratio.median));
    let bar = [(one.min(dot), middle - 5), (one.max(dot), middle + 5)];
    area.draw(&Rectangle::new(bar, color.mix(0.25).filled()))?;
    let line = vec![(scale.x(ratio.min), middle), (scale.x(ratio.max), middle)];
    area.draw(&PathElement::new(line, color.stroke_width(2)))?;
    area.draw(&Circle::new((dot, middle), 6, color.filled()))?;
    if let Some(floor) = row.floor_ratio() {
        area.draw(&Circle::new(
            (scale.x(floor), middle),
            5,
            FAINT.stroke_width(2),
        ))?;
    }
    if let Target::Times(times) = row.facts.target {
        let goal = scale.x(times);
        let tick = vec![(goal, middle - 12), (goal, middle + 12)];
        area.draw(&PathElement::new(tick, INK.stroke_width(2)))?;
    }

    let value = |figure: f64| short(figure);
    let style = ending(&plain(14, &INK));
    write(
        area,
        &value(row.subject.value().median),
        (SUBJECT_X, middle),
        &style,
    )?;
    write(
        area,
        &value(row.against.value().median),
        (AGAINST_X, middle),
        &style,
    )?;
    let style = ending(&bold(15, color));
    write(area, &times(ratio.median), (WIDTH - MARGIN, middle), &style)
}

/// Where some runs say better and others worse, neither is claimed.
fn color_of(ratio: Figure) -> &'static RGBColor {
    if ratio.min > 1.0 {
        &BETTER
    } else if ratio.max < 1.0 {
        &WORSE
    } else {
        &FAINT
    }
}

/// A scale of doublings, from a whole power of two to another, with 1 between them.
struct Scale {
    lowest: i32,
    highest: i32,
}

impl Scale {
    /// Takes in the ratios of all rows, as far as the scale goes.
    fn of(rows: &[Row]) -> Self {
        let ratios = || rows.iter().map(Row::ratio);
        let least = ratios().map(|ratio| ratio.min).fold(1.0, f64::min);
        let goals = rows.iter().filter_map(|row| match row.facts.target {
            Target::Times(times) => Some(times),
            Target::Figure(_) => None,
        });
        let floors = rows.iter().filter_map(Row::floor_ratio);
        let most = ratios()
            .map(|ratio| ratio.max)
            .chain(goals)
            .chain(floors)
            .fold(1.0, f64::max);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a doubling is between -12 and 12"
        )]
        let whole = |doublings: f64| doublings as i32;
        Self {
            lowest: whole(doublings(least).floor()).min(-1),
            highest: whole(doublings(most).ceil()).max(1),
        }
    }

    fn x(&self, ratio: f64) -> i32 {
        let span = f64::from(self.highest - self.lowest);
        let part = (doublings(ratio) - f64::from(self.lowest)) / span;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a part of the picture's width"
        )]
        let pixels = (part * f64::from(PLOT_RIGHT - PLOT_LEFT)).round() as i32;
        PLOT_LEFT + pixels
    }

    /// Returns the ratios to mark, with their names; 1 is among them.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let step = (self.highest - self.lowest) / TICKS_MAX + 1;
        (self.lowest..=self.highest)
            .filter(move |power| power % step == 0)
            .map(|power| {
                let size = 1_u32 << power.unsigned_abs();
                match power {
                    ..0 => (1.0 / f64::from(size), format!("1/{size}")),
                    _ => (f64::from(size), size.to_string()),
                }
            })
    }
}

/// Returns how often 1 is doubled to get there, as far as the scale goes.
fn doublings(ratio: f64) -> f64 {
    ratio.log2().clamp(-DOUBLINGS_MAX, DOUBLINGS_MAX)
}

const HOW: &str = "Dot: ratio of the medians. Line: least and most of the runs; grey where they disagree. \
    Tick: the target.";

/// A thousand times better, or worse, is drawn; what is beyond lies on the edge.
const DOUBLINGS_MAX: f64 = 10.0;

/// More marks than these would run into each other.
const TICKS_MAX: i32 = 9;

/// More rows than these are not a picture any more; the table has them.
const ROWS_MAX: i32 = 100;

const WIDTH: i32 = 1_140;
const MARGIN: i32 = 36;
const TOP: i32 = 116;
const ROW_HEIGHT: i32 = 46;
const FOOTER: i32 = 72;
const PLOT_LEFT: i32 = 290;
const PLOT_RIGHT: i32 = 730;
const SUBJECT_X: i32 = 870;
const AGAINST_X: i32 = 990;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::results;
    use crate::results::tests::row;
    use crate::workloads::Unit;

    #[test]
    fn half_and_twice_lie_equally_far_from_one() {
        let rows = [row(Unit::rate("entries/s"), &[3.0], &[1.0])];
        let scale = Scale::of(&rows);

        assert_eq!((scale.lowest, scale.highest), (-1, 2));
        assert!((scale.x(2.0) - scale.x(1.0)).abs_diff(scale.x(1.0) - scale.x(0.5)) <= 1);
        let names: Vec<String> = scale.ticks().map(|(_, name)| name).collect();
        assert_eq!(names, ["1/2", "1", "2", "4"]);
    }

    #[test]
    fn a_ratio_beyond_the_scale_lies_on_its_edge() {
        let rows = [row(Unit::rate("entries/s"), &[1e9], &[0.0])];
        let scale = Scale::of(&rows);

        assert_eq!(scale.x(f64::INFINITY), PLOT_RIGHT);
        assert!(scale.ticks().count() <= 10);
        assert!(scale.ticks().any(|(_, name)| name == "1"));
    }

    #[test]
    fn runs_that_disagree_claim_nothing() {
        let row = row(Unit::rate("entries/s"), &[3.0, 3.0, 0.9], &[1.0, 1.0, 1.0]);

        assert_eq!(color_of(row.ratio()), &FAINT);
    }

    #[test]
    fn a_picture_names_what_it_shows() {
        let results = results(vec![
            row(Unit::rate("entries/s"), &[3e6, 4e6], &[1e6, 1e6]),
            row(Unit::cost("bytes"), &[3.0], &[2.0]),
        ]);

        let svg = render(&results).unwrap();

        for text in [
            "Tailrace 0.1.0 against Valkey 9",
            "add/p16",
            "3.50×",
            "0.67×",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
