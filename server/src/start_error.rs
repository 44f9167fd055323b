//! Why a server did not start, in words that say what to do.

use std::fmt;
use std::io;

use crate::cluster::TopologyError;
use crate::config::system_message;

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// The system gave no thread to run on.
    Runtime(io::Error),
    /// The cluster cannot be what the configuration asks for.
    Topology(TopologyError),
    /// The faults of a test double cannot be read.
    Faults {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// What the server is to start with cannot be made.
    Fixture(String),
    /// The server beside which it was to start is ending.
    Ending,
    /// An address cannot be listened on.
    Listen {
        /// The address, as it was asked for.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime(source) => {
                write!(f, "cannot start a thread: {}", system_message(source))
            }
            Self::Topology(error) => write!(f, "{error}"),
            Self::Faults { path, reason } => {
                write!(f, "cannot take the faults of {path}: {reason}")
            }
            Self::Fixture(error) => f.write_str(error),
            Self::Ending => f.write_str("the server is ending"),
            Self::Listen { address, source } => {
                write!(f, "cannot listen on {address}: {}", system_message(source))?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => f.write_str(
                        "; stop the server that uses it, or choose another port with --port (0 \
                         takes a free one)",
                    ),
                    io::ErrorKind::PermissionDenied => {
                        f.write_str("; choose a port above 1023 or a path you may write to")
                    }
                    // A path, rather than an address and its port.
                    _ if address.contains('/') => {
                        f.write_str("; check the directory that --unixsocket names")
                    }
                    _ => f.write_str("; check --bind and --port"),
                }
            }
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Runtime(source) | Self::Listen { source, .. } => Some(source),
            Self::Topology(error) => Some(error),
            Self::Faults { .. } => None,
            Self::Fixture(_) => None,
            Self::Ending => None,
        }
    }
}

impl From<TopologyError> for StartError {
    fn from(error: TopologyError) -> Self {
        Self::Topology(error)
    }
}
