//! The text of `INFO`: titles, and lines of a name and a value.

use std::fmt::Display;
use std::fmt::Write;

/// The text so far.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a section.
    pub(super) fn section(&mut self, title: &str) {
        let gap = if self.0.is_empty() { "" } else { "\r\n" };
        self.line(format_args!("{gap}# {title}"));
    }

    /// Adds a value.
    pub(super) fn field(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("{name}:{value}"));
    }

    /// Adds lines that are whole already.
    pub(super) fn lines(&mut self, lines: &str) {
        self.0.push_str(lines);
    }

    /// Adds the same value to several names.
    pub(super) fn fields(&mut self, names: &[&str], value: impl Display + Copy) {
        for name in names {
            self.field(name, value);
        }
    }

    /// Adds an amount of memory, and again for people.
    pub(super) fn memory(&mut self, name: &str, bytes: u64) {
        self.field(name, bytes);
        self.memory_human(name, bytes);
    }

    /// The line for people alone.
    pub(super) fn memory_human(&mut self, name: &str, bytes: u64) {
        self.line(format_args!("{name}_human:{}", human(bytes)));
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    fn line(&mut self, line: impl Display) {
        write!(self.0, "{line}\r\n").expect("a String takes any text");
    }
}

/// An amount of memory with a unit.
#[expect(
    clippy::cast_precision_loss,
    reason = "two digits after the point are shown"
)]
fn human(bytes: u64) -> String {
    if bytes < 1_024 {
        return format!("{bytes}B");
    }
    let mut amount = bytes as f64 / 1_024.0;
    for unit in ["K", "M", "G"] {
        if amount < 1_024.0 {
            return format!("{amount:.2}{unit}");
        }
        amount /= 1_024.0;
    }
    format!("{amount:.2}T")
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn memory_has_a_unit() {
        assert_eq!(human(0), "0B");
        assert_eq!(human(1_023), "1023B");
        assert_eq!(human(1_536), "1.50K");
        assert_eq!(human(100 * 1_024 * 1_024), "100.00M");
        assert_eq!(human(5 << 40), "5.00T");
    }
}
