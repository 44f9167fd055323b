//! Errors of connections, transactions and channels.

use crate::args::text;

/// Why a command about a connection, a transaction or a channel failed. Some texts repeat what a client
/// sent.
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
    /// A client that monitors may not use keys.
    Monitoring,
    /// `MONITOR` inside of `EXEC`.
    MonitorInExec,
    /// `SSUBSCRIBE` inside of `EXEC`.
    SsubscribeInExec,
    /// `EXEC` after a command was refused.
    ExecAborted,
    /// `EXEC` itself was wrong, which ends the transaction.
    ExecAbortedBecause(Vec<u8>),
    /// `EXEC` without `MULTI`.
    ExecWithoutMulti,
    /// `DISCARD` without `MULTI`.
    DiscardWithoutMulti,
    /// `CLIENT UNBLOCK ... ERROR`.
    Unblocked,
    /// The password is wrong, or there is no such user.
    WrongPassword,
    /// `AUTH password` although there is no password.
    NoPasswordSet,
    /// The version that `HELLO` asks for is not a number.
    HelloVersion,
    /// There is no such version of the protocol.
    NoProto,
    /// `HELLO` has no such option.
    HelloOption(Vec<u8>),
    /// `HELLO` from a client that is not let in, and does not say who it is.
    HelloNoAuth,
    /// A name with blanks or special characters.
    InvalidName,
    /// A value of this attribute with blanks or special characters.
    InvalidInfo(Vec<u8>),
    /// `CLIENT SETINFO` knows no such attribute.
    UnknownInfo(Vec<u8>),
    /// `CLIENT KILL` found nobody at the address.
    NoSuchClient,
    /// `CLIENT UNBLOCK` ends a wait in another way.
    UnblockReason,
    /// `CLIENT PAUSE` holds something else.
    PauseMode,
    /// The server is not in import mode.
    NotImporting,
    /// The value of this filter is not a number.
    NotANumber(&'static str),
    /// The value of this filter is zero or less.
    NotAboveZero(&'static str),
    /// There is no database of this number.
    DbOutside {
        /// The filter.
        filter: &'static str,
        /// The last database.
        db_max: usize,
    },
    /// Clients of no such type exist.
    UnknownType(Vec<u8>),
    /// There is no such user.
    NoSuchUser(Vec<u8>),
    /// Some letters of a filter stand for nothing.
    UnknownLetters {
        /// What they were to stand for.
        what: &'static str,
        /// Whether the filter is one with `NOT-` in front.
        is_negated: bool,
        /// All letters of the filter.
        asked: Vec<u8>,
    },
}

impl ClientError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        let named = match self {
            Self::HelloOption(option) => {
                return [b"ERR Syntax error in HELLO option '", text(option), b"'"].concat();
            }
            Self::InvalidInfo(attribute) => {
                let rule = b" cannot contain spaces, newlines or special characters.";
                return [b"ERR ", text(attribute), rule].concat();
            }
            Self::UnknownInfo(attribute) => {
                return [b"ERR Unrecognized option '", text(attribute), b"'"].concat();
            }
            Self::UnknownType(asked) => {
                return [b"ERR Unknown client type '", text(asked), b"'"].concat();
            }
            Self::NoSuchUser(asked) => return [b"ERR No such user '", text(asked), b"'"].concat(),
            Self::ExecAbortedBecause(reason) => {
                let before = b"EXECABORT Transaction discarded because of: ";
                return [before, &reason[..]].concat();
            }
            Self::UnknownLetters {
                what,
                is_negated,
                asked,
            } => {
                let filter = match is_negated {
                    true => format!("NOT-{}", what.to_ascii_uppercase()),
                    false => "provided".to_owned(),
                };
                let before = format!("ERR Unknown {what} found in the {filter} filter: ");
                return [before.as_bytes(), text(asked)].concat();
            }
            Self::NotInMulti(name) => {
                format!("ERR Command '{name}' not allowed inside a transaction")
            }
            Self::Subscribed(name) => format!(
                "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT \
                 / RESET are allowed in this context"
            ),
            Self::NotANumber(filter) => format!("ERR {filter} is not an integer or out of range"),
            Self::NotAboveZero(filter) => format!("ERR {filter} should be greater than 0"),
            Self::DbOutside { filter, db_max } => {
                format!("ERR {filter} number should be between 0 and {db_max}")
            }
            fixed => return fixed.fixed_text().into(),
        };
        named.into()
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::NoAuth => "NOAUTH Authentication required.",
            Self::Monitoring => "ERR Replica can't interact with the keyspace",
            Self::MonitorInExec => "ERR MONITOR isn't allowed for DENY BLOCKING client",
            Self::SsubscribeInExec => "ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client",
            Self::ExecAborted => "EXECABORT Transaction discarded because of previous errors.",
            Self::ExecWithoutMulti => "ERR EXEC without MULTI",
            Self::DiscardWithoutMulti => "ERR DISCARD without MULTI",
            Self::Unblocked => "UNBLOCKED client unblocked via CLIENT UNBLOCK",
            Self::WrongPassword => "WRONGPASS invalid username-password pair or user is disabled.",
            Self::NoPasswordSet => {
                "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?"
            }
            Self::HelloVersion => "ERR Protocol version is not an integer or out of range",
            Self::NoProto => "NOPROTO unsupported protocol version",
            Self::HelloNoAuth => {
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
                 HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client \
                 and select the RESP protocol version at the same time"
            }
            Self::InvalidName => {
                "ERR Client names cannot contain spaces, newlines or special characters."
            }
            Self::NoSuchClient => "ERR No such client",
            Self::UnblockReason => "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
            Self::PauseMode => "ERR CLIENT PAUSE mode must be WRITE or ALL",
            Self::NotImporting => "ERR Server is not in import mode",
            Self::NotInMultiOfRedis("multi") => "ERR MULTI calls can not be nested",
            Self::NotInMultiOfRedis("watch") => "ERR WATCH inside MULTI is not allowed",
            Self::NotInMultiOfRedis(_) => "ERR Command not allowed inside a transaction",
            Self::NotInMulti(_)
            | Self::Subscribed(_)
            | Self::ExecAbortedBecause(_)
            | Self::NotANumber(_)
            | Self::NotAboveZero(_)
            | Self::DbOutside { .. }
            | Self::HelloOption(_)
            | Self::InvalidInfo(_)
            | Self::UnknownInfo(_)
            | Self::UnknownType(_)
            | Self::NoSuchUser(_)
            | Self::UnknownLetters { .. } => unreachable!("these name something"),
        }
    }
}
