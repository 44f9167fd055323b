//! Why a comparison could not be made.

use std::error::Error;
use std::fmt::Display;
use std::fmt::Formatter;
use std::io;
use std::time::Duration;

/// Why a comparison could not be made; its `Display` is what the user reads.
#[derive(Debug)]
pub enum Fault {
    /// A file or a socket failed.
    Io {
        /// What was being done, as in "cannot connect to 127.0.0.1:1".
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A server to measure is not installed or not built.
    NoProgram {
        /// The program that was looked for.
        program: String,
        /// How to get it.
        advice: String,
    },
    /// A server that was started ended, or took no connection in time.
    NotReady {
        /// The program that was started.
        program: String,
        /// The last lines that it wrote.
        log: String,
    },
    /// A server refused a command.
    ErrorReply(String),
    /// A server has no such command.
    Unsupported(String),
    /// A reply is not RESP, or not of the shape that the command has.
    Unexpected(String),
    /// A server did not answer for so long.
    Stalled(Duration),
    /// A run went wrong.
    Run {
        /// The workload and the server.
        run: String,
        /// What happened.
        source: Box<Self>,
    },
    /// The arguments ask for what cannot be.
    Usage(String),
}

impl Fault {
    /// Whether a run could not be made because the server has no such command.
    pub(crate) fn is_of_lacking_command(&self) -> bool {
        match self {
            Self::Run { source, .. } => source.is_of_lacking_command(),
            Self::Unsupported(_) => true,
            _ => false,
        }
    }

    /// Says what was being done when the system reported an error; for `map_err`.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing: doing.into(),
            source,
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::NoProgram { program, advice } => {
                write!(f, "{program} was not found.\n{advice}")
            }
            Self::NotReady { program, log } => {
                write!(
                    f,
                    "{program} did not get ready. The last it wrote was:\n{log}"
                )
            }
            Self::ErrorReply(text) => write!(f, "the server replied with an error: {text}"),
            Self::Unsupported(command) => write!(f, "the server does not know {command}"),
            Self::Unexpected(text) => write!(f, "unexpected reply: {text}"),
            Self::Stalled(time) => write!(f, "no reply came for {} s", time.as_secs()),
            Self::Run { run, source } => write!(f, "{run}: {source}"),
            Self::Usage(text) => f.write_str(text),
        }
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Run { source, .. } => Some(source),
            _ => None,
        }
    }
}
