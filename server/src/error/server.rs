//! Errors of the commands on the server.

use crate::args::text;
use crate::config::SetError;

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
    /// `COMMAND GETKEYS` of something that is no command.
    NoSuchCommand,
    /// `COMMAND GETKEYS` of a command that never has keys.
    WithoutKeys,
    /// `COMMAND GETKEYS` of a command with too few or too many arguments.
    CommandArity,
    /// `COMMAND GETKEYS` of a command that is written wrong.
    CommandSyntax,
    /// `CONFIG SET` changed nothing, and why.
    Config(SetError),
    /// There is no file that the configuration could be written to.
    NoConfigFile,
    /// The configuration could not be written, and why.
    Rewrite(String),
    /// There is no such kind of command log.
    CommandLogKind,
    /// The count of a command log is no number from -1 on.
    CommandLogCount,
    /// Latency is not kept for this event.
    NoLatencySamples(Vec<u8>),
    /// `DEBUG PROTOCOL` of something else.
    ProtocolKind,
    /// The command needs RESP3.
    NotInResp2,
    /// An error that a client asked for.
    Chosen(Vec<u8>),
    /// `SHUTDOWN ABORT` while the server does not end.
    NoShutdown,
    /// `SHUTDOWN FAILOVER` without a cluster.
    FailoverOutsideCluster,
    /// The command is about a cluster, which this server is no part of.
    NoCluster,
    /// The server cannot end as it was asked to.
    ShutdownFailed,
    /// `ACL CAT` of something else.
    NoSuchCategory(Vec<u8>),
    /// A threshold that is no amount of memory.
    Threshold,
    /// `DEBUG RELOAD` in a way that it does not have.
    ReloadOption,
    /// `DEBUG RELOAD` of a file that was not written before.
    NothingToReload,
}

impl ServerError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        match self {
            Self::Protected { command, option } => format!(
                "ERR {command} command not allowed. If the {option} option is set to \"local\", \
                 you can run it from a local connection, otherwise you need to set this option in \
                 the configuration file, and then restart the server."
            )
            .into(),
            Self::Config(error) => error.wire(),
            Self::Rewrite(why) => format!("ERR Rewriting config file: {why}").into(),
            Self::Chosen(text) => text.clone(),
            Self::NoLatencySamples(event) => {
                [b"ERR No samples available for event '", text(event), b"'"].concat()
            }
            Self::NoSuchCategory(name) => [b"ERR Unknown category '", text(name), b"'"].concat(),
            fixed => fixed.fixed_text().into(),
        }
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::NoSuchCommand => "ERR Invalid command specified",
            Self::WithoutKeys => "ERR The command has no key arguments",
            Self::CommandArity => "ERR Invalid number of arguments specified for command",
            Self::CommandSyntax => "ERR Invalid arguments specified for command",
            Self::NoConfigFile => "ERR The server is running without a config file",
            Self::CommandLogKind => {
                "ERR type should be one of the following: slow, large-request, large-reply"
            }
            Self::CommandLogCount => "ERR count should be greater than or equal to -1",
            Self::ProtocolKind => {
                "ERR Wrong protocol type name. Please use one of the following: \
                 string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"
            }
            Self::NotInResp2 => "ERR RESP2 is not supported by this command",
            Self::NoShutdown => "ERR No shutdown in progress.",
            Self::FailoverOutsideCluster => {
                "ERR SHUTDOWN FAILOVER is only supported in cluster mode."
            }
            Self::NoCluster => "ERR This instance has cluster support disabled",
            Self::ShutdownFailed => "ERR Errors trying to SHUTDOWN. Check logs.",
            Self::Threshold => {
                "ERR argument must be a memory value bigger than 1 and smaller than 4gb"
            }
            Self::ReloadOption => {
                "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
            }
            Self::NothingToReload => "ERR Error trying to load the RDB dump, check server logs.",
            Self::Protected { .. }
            | Self::Config(_)
            | Self::Rewrite(_)
            | Self::Chosen(_)
            | Self::NoLatencySamples(_)
            | Self::NoSuchCategory(_) => unreachable!("these name something"),
        }
    }
}
