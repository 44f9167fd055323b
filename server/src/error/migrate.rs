//! Errors of MIGRATE.

/// Why keys did not reach another server, or not all of them.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MigrateError {
    /// `KEYS`, and a key besides.
    KeyBesideKeys,
    /// Nobody listens there, or does not answer in time.
    Connecting,
    /// What is sent is not taken in time, or the connection broke.
    Writing,
    /// No reply comes in time, or the connection broke.
    Reading,
    /// The other server refuses something, in these words.
    Target(Vec<u8>),
}

impl MigrateError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        match self {
            Self::Target(text) => [b"ERR Target instance replied with error: ", &text[..]].concat(),
            fixed => fixed.fixed_text().into(),
        }
    }

    /// The texts that repeat nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::KeyBesideKeys => {
                "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
            }
            Self::Connecting => "IOERR error or timeout connecting to the client",
            Self::Writing => "IOERR error or timeout writing to target instance",
            Self::Reading => "IOERR error or timeout reading to target instance",
            Self::Target(_) => unreachable!("it repeats something"),
        }
    }
}
