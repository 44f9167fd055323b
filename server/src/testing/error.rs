//! What a test is told when something is not as it is to be.

use std::fmt;

/// Why something that a test asked for did not happen.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TestError {
    /// It does not hold, or cannot be done: what is the case instead.
    Not(String),
    /// The server has ended.
    Ended,
    /// The caller would wait on the thread that serves: the [`Answer`](super::Answer) is to be awaited.
    WouldBlock,
}

impl fmt::Display for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Not(what) => f.write_str(what),
            Self::Ended => f.write_str("the server has ended"),
            Self::WouldBlock => {
                f.write_str("this thread serves, so nothing would come; await it instead")
            }
        }
    }
}

impl std::error::Error for TestError {}
