//! Errors of the commands on the server.

use std::fmt;

/// Why a command on the server failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerError {
    /// The configuration does not allow the command from here: its name and the option's.
    Protected {
        /// In capitals.
        command: &'static str,
        /// The option that allows it.
        option: &'static str,
    },
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protected { command, option } => write!(
                f,
                "ERR {command} command not allowed. If the {option} option is set to \"local\", \
                 you can run it from a local connection, otherwise you need to set this option in \
                 the configuration file, and then restart the server."
            ),
        }
    }
}
