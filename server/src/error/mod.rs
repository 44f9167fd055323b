//! Every error that a command can answer with, and its words.
//!
//! The `Display` of [`CommandError`] **is** the wire text, without the leading `-`. Clients match on
//! it, so a changed word is a breaking change, and each text has a transcript. What concerns one
//! family of commands is in a file beside this one. Each type has its words in two places: `fixed_text` has
//! those that are always the same, `wire` those that repeat something.

mod client;
mod cluster;
mod keyspace;
mod migrate;
mod script;
mod server;
mod stream;
mod tracking;

use std::fmt;

use tailrace_protocol::Request;
use tailrace_storage::WrongType;

pub use client::ClientError;
pub use cluster::ClusterError;
pub use keyspace::KeyspaceError;
pub use migrate::MigrateError;
pub use script::ScriptError;
pub use server::ServerError;
pub use stream::StreamError;
pub use tracking::TrackingError;

use crate::spec::Spec;

/// Why a command failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CommandError {
    /// The arguments make no sense together.
    Syntax,
    /// A number was asked for.
    NotAnInteger,
    /// A floating-point number was asked for.
    NotAFloat,
    /// The key holds another type.
    WrongType,
    /// The wrong number of arguments; the full name of the command.
    Arity(&'static str),
    /// Not an entry ID.
    InvalidId,
    /// A negative timeout.
    TimeoutNegative,
    /// A timeout that is not a number.
    TimeoutNotAnInteger,
    /// A timeout that lies too far in the future.
    TimeoutOutOfRange,
    /// A number outside of a range that has a text of its own.
    OutOfRange,
    /// A number that must be positive.
    NotPositive,
    /// The key does not exist, where that is an error.
    NoSuchKey,
    /// There is no database of this number.
    DbIndex,
    /// A container has no such subcommand.
    UnknownSubcommand {
        /// What was asked for, cut to 128 bytes.
        asked: Vec<u8>,
        /// The container, in lower case.
        container: &'static str,
    },
    /// A subcommand was called in a way that it does not have.
    SubcommandSyntax {
        /// The subcommand as the client wrote it, cut to 128 bytes.
        asked: Vec<u8>,
        /// The container, in lower case.
        container: &'static str,
    },
    /// There is no such command: its name and its first arguments, as the caller sent them.
    UnknownCommand {
        /// Cut to 128 bytes.
        name: Vec<u8>,
        /// Each in quotes and followed by a blank; 128 bytes of them. `None` says nothing of them.
        args: Option<Vec<u8>>,
    },
    /// Memory is used up.
    OutOfMemory,
    /// From the commands on streams.
    Stream(StreamError),
    /// From the commands on keys and strings.
    Keyspace(KeyspaceError),
    /// From MIGRATE.
    Migrate(MigrateError),
    /// From the commands on connections, transactions and channels.
    Client(ClientError),
    /// From client-side caching.
    Tracking(TrackingError),
    /// From the commands on scripts.
    Script(ScriptError),
    /// From the commands on the server.
    Server(ServerError),
    /// From nodes of a cluster.
    Cluster(ClusterError),
    /// From the test double: what is wrong, without the first word.
    Double(String),
}

impl CommandError {
    /// The wrong number of arguments for `spec`.
    pub(crate) fn arity(spec: &Spec) -> Self {
        Self::Arity(spec.name)
    }

    /// A call of the subcommand `spec` that does not fit it.
    pub(crate) fn subcommand_syntax(spec: &'static Spec, request: Request<'_>) -> Self {
        let asked = request.get(1).unwrap_or_default();
        let container = spec.name.split('|').next().unwrap_or_default();
        Self::SubcommandSyntax {
            asked: echo(asked, ECHO_BYTES_MAX).to_vec(),
            container,
        }
    }

    /// The wire text without the leading `-`. It may hold what a client sent, which need not be text.
    pub(crate) fn wire(&self) -> Vec<u8> {
        match self {
            Self::UnknownCommand { name, args } => {
                let mut wire = [b"ERR unknown command '", &name[..], b"'"].concat();
                if let Some(args) = args {
                    wire.extend_from_slice(b", with args beginning with: ");
                    wire.extend_from_slice(args);
                }
                wire
            }
            Self::UnknownSubcommand { asked, container } => [
                b"ERR unknown subcommand '",
                &asked[..],
                b"'. Try ",
                container.to_ascii_uppercase().as_bytes(),
                b" HELP.",
            ]
            .concat(),
            Self::SubcommandSyntax { asked, container } => [
                b"ERR unknown subcommand or wrong number of arguments for '",
                &asked[..],
                b"'. Try ",
                container.to_ascii_uppercase().as_bytes(),
                b" HELP.",
            ]
            .concat(),
            Self::Arity(name) => {
                format!("ERR wrong number of arguments for '{name}' command").into()
            }
            Self::Stream(error) => error.wire(),
            Self::Client(error) => error.wire(),
            Self::Keyspace(error) => error.wire(),
            Self::Migrate(error) => error.wire(),
            Self::Tracking(error) => error.wire(),
            Self::Script(error) => error.wire(),
            Self::Server(error) => error.wire(),
            Self::Cluster(error) => error.wire(),
            Self::Double(reason) => format!("ERR {reason}").into(),
            fixed => fixed.fixed_text().into(),
        }
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::Syntax => "ERR syntax error",
            Self::NotAnInteger => "ERR value is not an integer or out of range",
            Self::NotAFloat => "ERR value is not a valid float",
            Self::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            Self::InvalidId => "ERR Invalid stream ID specified as stream command argument",
            Self::TimeoutNegative => "ERR timeout is negative",
            Self::TimeoutNotAnInteger => "ERR timeout is not an integer or out of range",
            Self::TimeoutOutOfRange => "ERR timeout is out of range",
            Self::OutOfRange => "ERR value is out of range",
            Self::NotPositive => "ERR value is out of range, must be positive",
            Self::NoSuchKey => "ERR no such key",
            Self::DbIndex => "ERR DB index is out of range",
            Self::OutOfMemory => "OOM command not allowed when used memory > 'maxmemory'.",
            Self::Arity(_)
            | Self::UnknownCommand { .. }
            | Self::UnknownSubcommand { .. }
            | Self::SubcommandSyntax { .. }
            | Self::Stream(_)
            | Self::Client(_)
            | Self::Keyspace(_)
            | Self::Migrate(_)
            | Self::Tracking(_)
            | Self::Script(_)
            | Self::Server(_)
            | Self::Cluster(_)
            | Self::Double(_) => unreachable!("these name something"),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.wire()))
    }
}

impl std::error::Error for CommandError {}

impl From<WrongType> for CommandError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<StreamError> for CommandError {
    fn from(error: StreamError) -> Self {
        Self::Stream(error)
    }
}

impl From<KeyspaceError> for CommandError {
    fn from(error: KeyspaceError) -> Self {
        Self::Keyspace(error)
    }
}

impl From<MigrateError> for CommandError {
    fn from(error: MigrateError) -> Self {
        Self::Migrate(error)
    }
}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<TrackingError> for CommandError {
    fn from(error: TrackingError) -> Self {
        Self::Tracking(error)
    }
}

impl From<ScriptError> for CommandError {
    fn from(error: ScriptError) -> Self {
        Self::Script(error)
    }
}

impl From<ServerError> for CommandError {
    fn from(error: ServerError) -> Self {
        Self::Server(error)
    }
}

impl From<ClusterError> for CommandError {
    fn from(error: ClusterError) -> Self {
        Self::Cluster(error)
    }
}

/// What an error repeats of what a client sent: the reference takes it for a C string, which ends at the
/// first zero byte.
pub(crate) fn echo(text: &[u8], bytes_max: usize) -> &[u8] {
    let text = crate::args::text(text);
    &text[..text.len().min(bytes_max)]
}

/// How much of what a client sent an error repeats.
pub(crate) const ECHO_BYTES_MAX: usize = 128;
