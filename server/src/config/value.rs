//! The value of a directive, and the text that CONFIG GET shows for it.

use super::events::EventClasses;
use super::limits::OutputLimits;

/// A value that was checked; which variant a directive has follows from its kind.
#[derive(Clone, PartialEq)]
pub(super) enum Value {
    /// `yes` or `no`.
    YesNo(bool),
    /// A number.
    Integer(i64),
    /// An amount of memory.
    Bytes(u64),
    /// A share of `maxmemory`.
    Percent(u8),
    /// The bits of a file's mode.
    Mode(u32),
    /// One of the words that a directive knows.
    Word(&'static str),
    /// Some of the words that a directive knows, in the reference's order.
    Words(Vec<&'static str>),
    /// Any text.
    Text(Box<[u8]>),
    /// Several texts.
    Texts(Vec<Box<[u8]>>),
    /// Several numbers.
    Integers(Vec<i64>),
    /// Percentiles, from 0 to 100.
    Percentiles(Vec<f64>),
    /// `client-output-buffer-limit`.
    Limits(Box<OutputLimits>),
    /// `notify-keyspace-events`.
    Events(EventClasses),
}

impl Value {
    /// The text of CONFIG GET.
    pub(super) fn shown(&self) -> Vec<u8> {
        match self {
            Self::YesNo(true) => b"yes".to_vec(),
            Self::YesNo(false) => b"no".to_vec(),
            Self::Integer(number) => number.to_string().into_bytes(),
            Self::Bytes(bytes) => bytes.to_string().into_bytes(),
            Self::Percent(percent) => format!("{percent}%").into_bytes(),
            Self::Mode(bits) => format!("{bits:o}").into_bytes(),
            Self::Word(word) => word.as_bytes().to_vec(),
            Self::Words(words) => words.join(" ").into_bytes(),
            Self::Text(text) => text.to_vec(),
            Self::Texts(texts) => texts.join(&b' '),
            Self::Integers(numbers) => joined(numbers, i64::to_string),
            Self::Percentiles(percentiles) => joined(percentiles, |value| show_percentile(*value)),
            Self::Limits(limits) => limits.to_string().into_bytes(),
            Self::Events(classes) => classes.letters().into_bytes(),
        }
    }
}

fn joined<T>(parts: &[T], show: impl Fn(&T) -> String) -> Vec<u8> {
    let parts: Vec<String> = parts.iter().map(show).collect();
    parts.join(" ").into_bytes()
}

/// Six digits after the point, without the zeros at the end.
pub(crate) fn show_percentile(value: f64) -> String {
    let digits = format!("{value:.6}");
    digits
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::show_percentile;

    #[test]
    fn percentiles_lose_the_zeros_at_their_end() {
        assert_eq!(show_percentile(50.0), "50");
        assert_eq!(show_percentile(99.9), "99.9");
        assert_eq!(show_percentile(0.0), "0");
        assert_eq!(show_percentile(100.0), "100");
    }
}
