//! What pictures have in common: colours, text, and how they become SVG.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::DrawingArea;
use plotters::prelude::DrawingAreaErrorKind;
use plotters::prelude::FontStyle;
use plotters::prelude::IntoDrawingArea;
use plotters::prelude::IntoFont;
use plotters::prelude::RGBColor;
use plotters::prelude::SVGBackend;
use plotters::prelude::Text;
use plotters::style::TextStyle;
use plotters::style::text_anchor::HPos;
use plotters::style::text_anchor::Pos;
use plotters::style::text_anchor::VPos;

use crate::fault::Fault;

/// What is drawn on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What comes of drawing something.
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// Makes a picture of a size in pixels.
///
/// # Errors
///
/// [`Fault::Io`] if it cannot be drawn.
pub(super) fn svg(
    (width, height): (i32, i32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<String, Fault> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (width.unsigned_abs(), height.unsigned_abs()))
        .into_drawing_area();
    let drawn = area
        .fill(&PAPER)
        .and_then(|()| draw(&area))
        .and_then(|()| area.present());
    drop(area);
    drawn.map_err(|error| {
        let error = io::Error::other(error.to_string());
        Fault::io("cannot draw the chart")(error)
    })?;
    Ok(svg)
}

/// Writes text at a place.
pub(super) fn write(area: &Area<'_>, text: &str, at: (i32, i32), style: &TextStyle<'_>) -> Drawn {
    area.draw(&Text::new(text.to_owned(), at, style.clone()))
}

pub(super) fn plain(size: i32, color: &'static RGBColor) -> TextStyle<'static> {
    text(size, color, FontStyle::Normal)
}

pub(super) fn bold(size: i32, color: &'static RGBColor) -> TextStyle<'static> {
    text(size, color, FontStyle::Bold)
}

fn text(size: i32, color: &'static RGBColor, style: FontStyle) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size).into_font().style(style))
        .color(color)
        .pos(Pos::new(HPos::Left, VPos::Center))
}

/// Makes a text end at its place instead of beginning there.
pub(super) fn ending(style: &TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Right, VPos::Center))
}

/// Makes a text have its place in the middle.
pub(super) fn centered(style: &TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(super) const INK: RGBColor = RGBColor(31, 41, 51);
pub(super) const FAINT: RGBColor = RGBColor(110, 120, 131);
pub(super) const GRID: RGBColor = RGBColor(225, 229, 234);
pub(super) const BETTER: RGBColor = RGBColor(11, 114, 133);
pub(super) const WORSE: RGBColor = RGBColor(194, 65, 12);
