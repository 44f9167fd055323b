//! Errors of the commands on keys and strings.

use tailrace_storage::RestoreError;
use tailrace_storage::StringError;

use super::CommandError;
use crate::args::text;

/// Why a command on a key or a string failed. Some texts repeat what a client sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyspaceError {
    /// The cursor of a scan is not a number.
    InvalidCursor,
    /// `SCAN ... TYPE` names no type.
    UnknownType(Vec<u8>),
    /// `NOVALUES` given to `SCAN`.
    NoValuesOutsideHscan,
    /// `NOSCORES` given to `SCAN`.
    NoScoresOutsideZscan,
    /// A number beyond 32 bits.
    NotInInt,
    /// `SWAPDB` with a first argument that is not a number.
    FirstDbIndex,
    /// `SWAPDB` with a second argument that is not a number.
    SecondDbIndex,
    /// A key that is to be moved or copied onto itself.
    SameObject,
    /// A time to live that is no time, given to this command.
    ExpireTime(&'static str),
    /// An option that `EXPIRE` does not have.
    UnsupportedOption(Vec<u8>),
    /// `NX` with another condition.
    NxAndOthers,
    /// `GT` with `LT`.
    GtAndLt,
    /// `MSETEX` with a number of keys that is none.
    KeyCount,
    /// The same in Redis.
    KeyCountOfRedis,
    /// `MSETEX` with fewer pairs than keys, in Redis.
    PairCountOfRedis,
    /// A string would be longer than strings may be.
    StringTooLong,
    /// `SETRANGE` before the first byte.
    Offset,
    /// The sum is beyond 64 bits.
    IncrementOverflow,
    /// The number to subtract has no opposite.
    DecrementOverflow,
    /// The sum of fractions is not finite.
    NotFinite,
    /// The position of a bit that no string has.
    BitOffset,
    /// A bit to set that is neither 0 nor 1.
    BitValue,
    /// A bit to find that is neither 0 nor 1.
    BitArgument,
    /// `BITOP NOT` of more than one string.
    NotOfSeveral,
    /// A type of numbers that `BITFIELD` does not have.
    BitFieldType,
    /// An `OVERFLOW` that `BITFIELD` does not have.
    OverflowType,
    /// `BITFIELD_RO` that is to write.
    OnlyGet,
    /// `OBJECT FREQ` while nobody counts.
    FrequencyNotTracked,
    /// `LCS` of something that is no string.
    NotStrings,
    /// `LCS` with both `LEN` and `IDX`.
    LenAndIdx,
    /// `LCS` of a string that has no length of 32 bits.
    TooLongForLcs,
    /// `LCS` of strings that would take more memory than an argument may.
    LcsAboveLimit,
    /// `LCS` of strings that would take more memory than there is.
    LcsOutOfMemory,
    /// A key that is there and is not to be replaced.
    BusyKey,
    /// `RESTORE` with a negative time to live.
    RestoreTtl,
    /// `RESTORE` with a negative idle time.
    RestoreIdle,
    /// `RESTORE` with a frequency that does not fit into a byte.
    RestoreFrequency,
    /// `RESTORE` of something that DUMP did not write.
    Payload(RestoreError),
}

impl KeyspaceError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        match self {
            Self::UnknownType(name) => [b"ERR unknown type name '", text(name), b"'"].concat(),
            Self::UnsupportedOption(option) => [b"ERR Unsupported option ", text(option)].concat(),
            Self::ExpireTime(command) => {
                format!("ERR invalid expire time in '{command}' command").into()
            }
            Self::Payload(RestoreError::ForeignType(number)) => {
                format!("ERR Unsupported foreign data type: {number}").into()
            }
            Self::Payload(RestoreError::OtherType(number)) => {
                format!("ERR Unsupported data type: {number}").into()
            }
            fixed => fixed.fixed_text().into(),
        }
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::InvalidCursor => "ERR invalid cursor",
            Self::NoValuesOutsideHscan => "ERR NOVALUES option can only be used in HSCAN",
            Self::NoScoresOutsideZscan => "ERR NOSCORES option can only be used in ZSCAN",
            Self::NotInInt => {
                "ERR value is out of range, value must between -2147483648 and 2147483647"
            }
            Self::FirstDbIndex => "ERR invalid first DB index",
            Self::SecondDbIndex => "ERR invalid second DB index",
            Self::SameObject => "ERR source and destination objects are the same",
            Self::NxAndOthers => {
                "ERR NX and XX, GT or LT options at the same time are not compatible"
            }
            Self::GtAndLt => "ERR GT and LT options at the same time are not compatible",
            Self::KeyCountOfRedis => "ERR invalid numkeys value",
            Self::PairCountOfRedis => "ERR wrong number of key-value pairs",
            Self::KeyCount => "ERR invalid numkeys value or out of range",
            Self::StringTooLong => "ERR string exceeds maximum allowed size (proto-max-bulk-len)",
            Self::Offset => "ERR offset is out of range",
            Self::IncrementOverflow => "ERR increment or decrement would overflow",
            Self::DecrementOverflow => "ERR decrement would overflow",
            Self::BitOffset => "ERR bit offset is not an integer or out of range",
            Self::BitValue => "ERR bit is not an integer or out of range",
            Self::BitArgument => "ERR The bit argument must be 1 or 0.",
            Self::NotOfSeveral => "ERR BITOP NOT must be called with a single source key.",
            Self::BitFieldType => {
                "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not \
                 supported but i64 is."
            }
            Self::OverflowType => "ERR Invalid OVERFLOW type specified",
            Self::OnlyGet => "ERR BITFIELD_RO only supports the GET subcommand",
            Self::NotFinite => "ERR increment would produce NaN or Infinity",
            Self::FrequencyNotTracked => {
                "ERR An LFU maxmemory policy is not selected, access frequency not tracked. \
                 Please note that when switching between policies at runtime LRU and LFU data will \
                 take some time to adjust."
            }
            Self::NotStrings => "ERR The specified keys must contain string values",
            Self::LenAndIdx => "ERR If you want both the length and indexes, please just use IDX.",
            Self::TooLongForLcs => "ERR String too long for LCS",
            Self::LcsAboveLimit => {
                "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
            }
            Self::LcsOutOfMemory => {
                "ERR Insufficient memory, failed allocating transient memory for LCS"
            }
            Self::BusyKey => "BUSYKEY Target key name already exists.",
            Self::RestoreTtl => "ERR Invalid TTL value, must be >= 0",
            Self::RestoreIdle => "ERR Invalid IDLETIME value, must be >= 0",
            Self::RestoreFrequency => "ERR Invalid FREQ value, must be >= 0 and <= 255",
            Self::Payload(RestoreError::Footer) => "ERR DUMP payload version or checksum are wrong",
            Self::Payload(RestoreError::Damaged) => "ERR Bad data format",
            Self::UnknownType(_)
            | Self::UnsupportedOption(_)
            | Self::ExpireTime(_)
            | Self::Payload(_) => unreachable!("these name something"),
        }
    }
}

impl From<StringError> for CommandError {
    fn from(error: StringError) -> Self {
        match error {
            StringError::WrongType => Self::WrongType,
            StringError::TooLong => KeyspaceError::StringTooLong.into(),
        }
    }
}
