//! Values as the reference writes them into a file, which is also how they move between servers.
//!
//! ```text
//! type (1) | value | version of the format (2, little-endian) | checksum of all before it (8, likewise)
//! ```
//!
//! What is written says version 11, the last one that both Valkey and Redis read. What is read may be newer.

mod crc64;
mod group;
pub(crate) mod listpack;
mod lzf;
mod reader;
mod stream;
mod writer;

use self::crc64::crc64;
use self::reader::Reader;
use self::stream::StreamForm;
use self::writer::Writer;
use crate::fields::Part;
use crate::strings::StringValue;
use crate::value::Value;

/// Which versions of the format are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// Those that are known: of Valkey up to 80, of Redis up to 13.
    #[default]
    Known,
    /// Every one, for as long as its parts are known.
    All,
}

/// How payloads are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadRules {
    /// Which versions of the format are read.
    pub versions: Versions,
    /// The longest string. All that is packed in a payload has no more bytes together, or ten times the payload's.
    pub string_bytes_max: usize,
    /// Whether long values of streams may be packed.
    pub packs: bool,
}

/// Why a payload was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreError {
    /// It is of a version that is not read, or its checksum is wrong.
    Footer,
    /// It is not what it says to be.
    Damaged,
    /// It is a value of a type that is not kept here.
    OtherType(u8),
    /// It is of a type that means something else elsewhere.
    ForeignType(u8),
}

/// A part of a payload is missing, or contradicts another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

impl From<Damaged> for RestoreError {
    fn from(Damaged: Damaged) -> Self {
        Self::Damaged
    }
}

impl Value {
    /// Writes this value as a payload, from which [`Value::from_payload`] and the references make it again.
    #[must_use]
    pub fn to_payload(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::String(string) => {
                out.bytes.push(STRING);
                match string.part() {
                    Part::Bytes(text) => out.string(text),
                    number => out.part(number),
                }
            }
            Self::Stream(stream) => {
                out.bytes.push(STREAM_3);
                stream::put(&mut out, stream);
            }
        }
        end_payload(out.bytes, VERSION_WRITTEN)
    }

    /// Makes a value of a payload.
    ///
    /// # Errors
    ///
    /// - [`RestoreError::Footer`] comes before all others.
    /// - [`RestoreError::OtherType`], [`RestoreError::ForeignType`] for values that are neither string nor stream.
    /// - [`RestoreError::Damaged`] for everything that contradicts itself.
    pub fn from_payload(payload: &[u8], rules: PayloadRules) -> Result<Self, RestoreError> {
        Self::from_payload_counted(payload, rules, &mut 0)
    }

    /// The same, and adds how many nodes were looked at, whatever came of them.
    pub(crate) fn from_payload_counted(
        payload: &[u8],
        rules: PayloadRules,
        nodes: &mut u64,
    ) -> Result<Self, RestoreError> {
        let version = version(payload, rules.versions)?;
        let unpacked_bytes_max = rules.string_bytes_max.max(payload.len().saturating_mul(10));
        // The reference reads on into the footer, too, if a length says so.
        let mut payload = Reader::new(payload, unpacked_bytes_max);
        let value = Self::take(&mut payload, version, rules);
        *nodes += payload.nodes;
        value
    }

    fn take(
        payload: &mut Reader<'_>,
        version: u16,
        rules: PayloadRules,
    ) -> Result<Self, RestoreError> {
        let form = match payload.byte()? {
            STRING => return string(payload, rules.string_bytes_max),
            STREAM => StreamForm::First,
            STREAM_2 => StreamForm::WithCounters,
            STREAM_3 => StreamForm::WithActiveTimes,
            STREAM_4 if FOREIGN_VERSIONS.contains(&version) => StreamForm::WithProducers,
            other @ (1..=7 | 9..=20) => return Err(RestoreError::OtherType(other)),
            HASH_2 if FOREIGN_VERSIONS.contains(&version) => {
                return Err(RestoreError::ForeignType(HASH_2));
            }
            HASH_2 => return Err(RestoreError::OtherType(HASH_2)),
            _ => return Err(RestoreError::Damaged),
        };
        let stream = stream::take(payload, form, rules.packs)?;
        Ok(Self::Stream(Box::new(stream)))
    }
}

/// Ends a type and a value with a version of the format and with the checksum, so that they are a payload.
#[must_use]
pub fn end_payload(mut payload: Vec<u8>, version: u16) -> Vec<u8> {
    payload.extend_from_slice(&version.to_le_bytes());
    let checksum = crc64(&payload);
    payload.extend_from_slice(&checksum.to_le_bytes());
    payload
}

fn string(payload: &mut Reader<'_>, bytes_max: usize) -> Result<Value, RestoreError> {
    let text = payload.string()?;
    if text.len() > bytes_max {
        return Err(RestoreError::Damaged);
    }
    Ok(Value::String(StringValue::from_bytes(&text)))
}

/// Looks at the end of a payload and returns the version of its format.
fn version(payload: &[u8], versions: Versions) -> Result<u16, RestoreError> {
    let (summed, checksum) = payload
        .split_last_chunk::<8>()
        .ok_or(RestoreError::Footer)?;
    let (_, version) = summed.split_last_chunk::<2>().ok_or(RestoreError::Footer)?;
    let version = u16::from_le_bytes(*version);
    let is_read = match versions {
        Versions::Known => {
            (1..=11).contains(&version)
                || REDIS_VERSIONS.contains(&version)
                || version == VALKEY_VERSION
        }
        Versions::All => version >= 1,
    };
    if is_read && crc64(summed) == u64::from_le_bytes(*checksum) {
        Ok(version)
    } else {
        Err(RestoreError::Footer)
    }
}

const STRING: u8 = 0;
const STREAM: u8 = 15;
const STREAM_2: u8 = 19;
const STREAM_3: u8 = 21;
const HASH_2: u8 = 22;
/// Of Redis alone.
const STREAM_4: u8 = 26;

const VERSION_WRITTEN: u16 = 11;
/// What Redis has written since it parted from Valkey.
const REDIS_VERSIONS: std::ops::RangeInclusive<u16> = 12..=13;
/// What Valkey leaves to others.
const FOREIGN_VERSIONS: std::ops::RangeInclusive<u16> = 12..=79;
const VALKEY_VERSION: u16 = 80;

#[cfg(test)]
mod tests;
