//! How the clock of a test double goes at first.

/// The value of `clock`: `real`, `frozen`, `frozen:MS`, `auto` or `auto:CLIENTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartClock {
    /// With the host's.
    Real,
    /// Not at all, and with the wall at these milliseconds since 1970, if any are given.
    Frozen(Option<u64>),
    /// From deadline to deadline, whenever so many clients wait.
    Auto(usize),
}

impl StartClock {
    /// Reads a value.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let (word, number) = match text.split_once(':') {
            Some((word, number)) => (word, Some(number.parse::<u64>().ok()?)),
            None => (text, None),
        };
        match (word.to_ascii_lowercase().as_str(), number) {
            ("real", None) => Some(Self::Real),
            ("frozen", at) if at.is_none_or(|at| at <= WALL_MAX_MS) => Some(Self::Frozen(at)),
            ("auto", clients) => Some(Self::Auto(usize::try_from(clients.unwrap_or(1)).ok()?)),
            _ => None,
        }
    }
}

/// The year 33,658.
pub(crate) const WALL_MAX_MS: u64 = 1_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::StartClock;

    #[test]
    fn each_form_is_read() {
        let read = |text: &str| StartClock::parse(text.as_bytes());
        assert_eq!(read("real"), Some(StartClock::Real));
        assert_eq!(read("Frozen"), Some(StartClock::Frozen(None)));
        assert_eq!(read("frozen:17"), Some(StartClock::Frozen(Some(17))));
        assert_eq!(read("auto"), Some(StartClock::Auto(1)));
        assert_eq!(read("auto:3"), Some(StartClock::Auto(3)));
        for wrong in [
            "",
            "real:1",
            "frozen:",
            "frozen:-1",
            "frozen:9999999999999999",
            "fast",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
