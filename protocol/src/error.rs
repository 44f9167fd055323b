//! Why a connection's bytes stopped being requests.

use std::error::Error;
use std::fmt;

/// A fault after which the stream of bytes cannot be read on: reply and close.
///
/// `Display` is what clients see after `Protocol error: `; [`Self::message`] is the whole error
/// reply, byte for byte.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// An inline command goes on beyond the limit of a line.
    TooBigInlineRequest,
    /// The line that counts the arguments goes on beyond the limit of a line.
    TooBigCountLine,
    /// The line that says how long an argument is goes on beyond the limit of a line.
    TooBigLengthLine,
    /// The count of arguments is not a number, or above the limit.
    InvalidCount,
    /// The length of an argument is not a number, negative, or above the limit.
    InvalidLength,
    /// More arguments than a client may send before it authenticates.
    UnauthenticatedCount,
    /// A longer argument than a client may send before it authenticates.
    UnauthenticatedLength,
    /// An argument did not start with `$`; the byte that it starts with.
    ExpectedBulk(u8),
    /// A line or an argument is not followed by CR LF.
    InvalidLineEnd,
    /// An inline command ends inside quotes.
    UnbalancedQuotes,
}

impl ProtocolError {
    /// The whole error reply without the leading `-` and the line end. Unlike `Display` it gives an
    /// unexpected byte back as it came, whether it is text or not.
    pub fn message(self) -> Vec<u8> {
        let mut message = b"ERR Protocol error: ".to_vec();
        message.extend_from_slice(self.text().as_bytes());
        if let Self::ExpectedBulk(got) = self {
            message.extend_from_slice(&[got, b'\'']);
        }
        message
    }

    /// The words, up to the unexpected byte if there is one.
    fn text(self) -> &'static str {
        match self {
            Self::TooBigInlineRequest => "too big inline request",
            Self::TooBigCountLine => "too big mbulk count string",
            Self::TooBigLengthLine => "too big bulk count string",
            Self::InvalidCount => "invalid multibulk length",
            Self::InvalidLength => "invalid bulk length",
            Self::UnauthenticatedCount => "unauthenticated multibulk length",
            Self::UnauthenticatedLength => "unauthenticated bulk length",
            Self::ExpectedBulk(_) => "expected '$', got '",
            Self::InvalidLineEnd => "invalid CRLF in request",
            Self::UnbalancedQuotes => "unbalanced quotes in request",
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        if let Self::ExpectedBulk(got) = self {
            write!(f, "{}'", char::from(*got))?;
        }
        Ok(())
    }
}

impl Error for ProtocolError {}
