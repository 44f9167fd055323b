//! Takes numbers, strings and times from the front of a payload.

use std::borrow::Cow;

use super::Damaged;
use super::lzf;
use crate::id::StreamId;
use crate::integer::Digits;

/// What is left of a payload.
///
/// Whatever a length says, no more memory is taken than there are bytes left, but for packed strings, which have a
/// bound together.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    unpacked_bytes_left: usize,
    /// How many nodes were looked at, the one included that was refused.
    pub(super) nodes: u64,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(payload: &'a [u8], unpacked_bytes_max: usize) -> Self {
        Self {
            rest: payload,
            unpacked_bytes_left: unpacked_bytes_max,
            nodes: 0,
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Damaged> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Takes a number. One whose width is unknown reads as the greatest, as in the reference.
    pub(super) fn number(&mut self) -> Result<u64, Damaged> {
        Ok(match self.length()? {
            Length::Plain(number) => number,
            Length::Special(kind) => u64::from(kind),
        })
    }

    /// Takes how many there are of something that follows.
    pub(super) fn count(&mut self) -> Result<u64, Damaged> {
        match self.number()? {
            UNKNOWN => Err(Damaged),
            count => Ok(count),
        }
    }

    /// Takes a string, which may be packed, or be a number.
    pub(super) fn string(&mut self) -> Result<Cow<'a, [u8]>, Damaged> {
        let number = match self.length()? {
            Length::Plain(len) => return Ok(Cow::Borrowed(self.slice(len)?)),
            Length::Special(INT_8) => i64::from(i8::from_le_bytes(self.array()?)),
            Length::Special(INT_16) => i64::from(i16::from_le_bytes(self.array()?)),
            Length::Special(INT_32) => i64::from(i32::from_le_bytes(self.array()?)),
            Length::Special(LZF) => return self.packed_string().map(Cow::Owned),
            Length::Special(_) => return Err(Damaged),
        };
        Ok(Cow::Owned(Digits::default().write(number).to_vec()))
    }

    /// Takes an ID of two numbers.
    pub(super) fn id(&mut self) -> Result<StreamId, Damaged> {
        Ok(StreamId::new(self.number()?, self.number()?))
    }

    /// Takes an ID as it is kept in the reference's trees.
    pub(super) fn raw_id(&mut self) -> Result<StreamId, Damaged> {
        Ok(id_of_bytes(self.array()?))
    }

    /// Takes a point in time; what lies before the epoch is none.
    pub(super) fn time(&mut self) -> Result<Option<u64>, Damaged> {
        let millis = i64::from_le_bytes(self.array()?);
        Ok(u64::try_from(millis).ok())
    }

    fn packed_string(&mut self) -> Result<Vec<u8>, Damaged> {
        let (packed_len, len) = (self.count()?, self.count()?);
        let packed = self.slice(packed_len)?;
        let len = usize::try_from(len).map_err(|_| Damaged)?;
        self.unpacked_bytes_left = self.unpacked_bytes_left.checked_sub(len).ok_or(Damaged)?;
        lzf::unpack(packed, len)
    }

    fn length(&mut self) -> Result<Length, Damaged> {
        let first = self.byte()?;
        let low = first & 0x3f;
        Ok(match first {
            ..0x40 => Length::Plain(u64::from(low)),
            0x40..0x80 => Length::Plain(u64::from(u16::from_be_bytes([low, self.byte()?]))),
            0x80 => Length::Plain(u64::from(u32::from_be_bytes(self.array()?))),
            0x81 => Length::Plain(u64::from_be_bytes(self.array()?)),
            0x82..0xc0 => Length::Plain(UNKNOWN),
            0xc0.. => Length::Special(low),
        })
    }

    fn slice(&mut self, len: u64) -> Result<&'a [u8], Damaged> {
        let len = usize::try_from(len).map_err(|_| Damaged)?;
        let (slice, rest) = self.rest.split_at_checked(len).ok_or(Damaged)?;
        self.rest = rest;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Damaged)?;
        self.rest = rest;
        Ok(*array)
    }
}

/// Reads an ID as it is kept in the reference's trees.
pub(super) fn id_of_bytes(bytes: [u8; 16]) -> StreamId {
    let both = u128::from_be_bytes(bytes);
    let [ms, seq] = [both >> 64, both & u128::from(u64::MAX)]
        .map(|half| u64::try_from(half).expect("it is half of twice as many bits"));
    StreamId::new(ms, seq)
}

/// A length, or what stands in the place of one.
enum Length {
    Plain(u64),
    /// What kind of string follows.
    Special(u8),
}

/// The number that stands for one that cannot be read.
const UNKNOWN: u64 = u64::MAX;

pub(super) const INT_8: u8 = 0;
pub(super) const INT_16: u8 = 1;
pub(super) const INT_32: u8 = 2;
const LZF: u8 = 3;
