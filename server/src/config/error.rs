//! What is wrong with a configuration, in one line that says where and what to do.

use std::fmt;
use std::path::Path;
use std::rc::Rc;

/// Why the server cannot start. `Display` is one line: place, option, problem and what to do.
#[derive(Debug)]
pub struct ConfigError {
    text: String,
}

/// Where a directive stands.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A line of a file.
    File(Rc<Path>, usize),
    /// A line of standard input.
    Stdin(usize),
    /// A line of a text that a program gave.
    Line(usize),
    /// An option of the process.
    CommandLine,
}

impl ConfigError {
    /// Names the directive, but not its value, which may be a password.
    pub(crate) fn new(origin: &Origin, name: &[u8], problem: &str) -> Self {
        let name = String::from_utf8_lossy(name);
        Self {
            text: format!("{origin}: {name}: {problem}"),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Stdin(line) => write!(f, "standard input:{line}"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}
