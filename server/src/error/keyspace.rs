//! Errors of the commands on keys and strings.

use std::fmt;

/// Why a command on a key or a string failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyspaceError {
    /// The cursor of a scan is not a number.
    InvalidCursor,
}

impl fmt::Display for KeyspaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidCursor => f.write_str("ERR invalid cursor"),
        }
    }
}
