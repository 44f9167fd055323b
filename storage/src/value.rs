//! What a key holds.

use crate::stream::Stream;
use crate::strings::StringValue;

/// The value of a key.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    String(StringValue),
    /// A stream. Boxed, so that a key with a string is not as large as a stream's head.
    Stream(Box<Stream>),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// [`Value::String`].
    String,
    /// [`Value::Stream`].
    Stream,
}

/// How a value is kept, as clients are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A string that is a number.
    Int,
    /// A short string beside its key.
    Embstr,
    /// Any other string.
    Raw,
    /// A stream.
    Stream,
}

/// The key holds a value of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongType;

impl Value {
    /// Returns the type of this value.
    #[must_use]
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::String(_) => ValueKind::String,
            Self::Stream(_) => ValueKind::Stream,
        }
    }

    /// Returns how this value is kept.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        match self {
            Self::String(string) => string.encoding(),
            Self::Stream(_) => Encoding::Stream,
        }
    }

    /// Returns the memory this value holds besides its own size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::String(string) => string.bytes(),
            Self::Stream(stream) => stream.bytes(),
        }
    }

    /// Returns the string.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if this is a stream.
    pub const fn as_string(&self) -> Result<&StringValue, WrongType> {
        match self {
            Self::String(string) => Ok(string),
            Self::Stream(_) => Err(WrongType),
        }
    }

    /// Returns the stream.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if this is a string.
    pub fn as_stream(&self) -> Result<&Stream, WrongType> {
        match self {
            Self::String(_) => Err(WrongType),
            Self::Stream(stream) => Ok(stream),
        }
    }

    /// Returns the stream, to be changed.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if this is a string.
    pub(crate) fn as_stream_mut(&mut self) -> Result<&mut Stream, WrongType> {
        match self {
            Self::String(_) => Err(WrongType),
            Self::Stream(stream) => Ok(stream),
        }
    }
}

impl ValueKind {
    /// Returns the name of the type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Stream => "stream",
        }
    }
}

impl Encoding {
    /// Returns the name of the encoding.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Embstr => "embstr",
            Self::Raw => "raw",
            Self::Stream => "stream",
        }
    }
}
