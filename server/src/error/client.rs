//! Errors of connections, transactions and channels.

use std::fmt;

/// Why a command about a connection, a transaction or a channel failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClientError {
    /// Only authentication is allowed yet.
    NoAuth,
    /// The command is not allowed inside a transaction.
    NotInMulti(&'static str),
    /// As [`Self::NotInMulti`], in the words of Redis.
    NotInMultiOfRedis(&'static str),
    /// A RESP2 connection that listens to channels may not use the command.
    Subscribed(&'static str),
    /// `EXEC` after a command was refused.
    ExecAborted,
    /// `EXEC` itself was wrong, which ends the transaction.
    ExecAbortedBecause(String),
    /// `EXEC` without `MULTI`.
    ExecWithoutMulti,
    /// `DISCARD` without `MULTI`.
    DiscardWithoutMulti,
    /// `CLIENT UNBLOCK ... ERROR`.
    Unblocked,
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAuth => f.write_str("NOAUTH Authentication required."),
            Self::NotInMulti(name) => {
                write!(f, "ERR Command '{name}' not allowed inside a transaction")
            }
            Self::NotInMultiOfRedis(name) => f.write_str(match *name {
                "multi" => "ERR MULTI calls can not be nested",
                "watch" => "ERR WATCH inside MULTI is not allowed",
                _ => "ERR Command not allowed inside a transaction",
            }),
            Self::Subscribed(name) => write!(
                f,
                "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT \
                 / RESET are allowed in this context"
            ),
            Self::ExecAborted => {
                f.write_str("EXECABORT Transaction discarded because of previous errors.")
            }
            Self::ExecAbortedBecause(reason) => {
                write!(f, "EXECABORT Transaction discarded because of: {reason}")
            }
            Self::ExecWithoutMulti => f.write_str("ERR EXEC without MULTI"),
            Self::DiscardWithoutMulti => f.write_str("ERR DISCARD without MULTI"),
            Self::Unblocked => f.write_str("UNBLOCKED client unblocked via CLIENT UNBLOCK"),
        }
    }
}
