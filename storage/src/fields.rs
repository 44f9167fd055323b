//! Names and values of an entry.

/// A name or a value: text that is a canonical 64-bit integer is kept as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The bytes as they came.
    Bytes(&'a [u8]),
    /// A number whose decimal digits are the bytes that came.
    Int(i64),
}
