//! IDs of entries, and how they are written.

use std::fmt;

/// The ID of an entry: milliseconds, then a number that tells entries of one millisecond apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Milliseconds since the Unix epoch, if the server chose the ID.
    pub ms: u64,
    /// Counts entries within the millisecond.
    pub seq: u64,
}

impl StreamId {
    /// `0-0`, which is below the ID of every entry.
    pub const MIN: Self = Self { ms: 0, seq: 0 };
    /// The greatest ID there is. An entry may have it.
    pub const MAX: Self = Self {
        ms: u64::MAX,
        seq: u64::MAX,
    };

    /// Puts the two parts together.
    #[must_use]
    pub const fn new(ms: u64, seq: u64) -> Self {
        Self { ms, seq }
    }

    /// Returns the ID right after this one, unless this is the greatest.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match (self.seq.checked_add(1), self.ms.checked_add(1)) {
            (Some(seq), _) => Some(Self { ms: self.ms, seq }),
            (None, Some(ms)) => Some(Self { ms, seq: 0 }),
            (None, None) => None,
        }
    }

    /// Returns the ID right before this one, unless this is `0-0`.
    #[must_use]
    pub const fn prev(self) -> Option<Self> {
        match (self.seq.checked_sub(1), self.ms.checked_sub(1)) {
            (Some(seq), _) => Some(Self { ms: self.ms, seq }),
            (None, Some(ms)) => Some(Self { ms, seq: u64::MAX }),
            (None, None) => None,
        }
    }

    /// Reads `ms` or `ms-seq`; `seq_default` completes the former.
    ///
    /// # Errors
    ///
    /// [`InvalidId`] for anything else, `-` and `+` included. What the reference's number parser lets through is
    /// accepted: leading zeros and blanks, a plus sign, and negative numbers that are no plain 64-bit ones (they wrap
    /// around).
    ///
    /// # Examples
    ///
    /// ```
    /// use tailrace_storage::StreamId;
    ///
    /// assert_eq!(StreamId::parse(b"12--18446744073709551615", 0), Ok(StreamId::new(12, 1)));
    /// assert!(StreamId::parse(b"12--1", 0).is_err());
    /// ```
    #[inline]
    pub fn parse(text: &[u8], seq_default: u64) -> Result<Self, InvalidId> {
        match Self::parse_plain(text) {
            Some(id) => Ok(id),
            None => Self::parse_any(text, seq_default),
        }
    }

    /// Reads two numbers of digits alone that cannot be too large, as nearly all IDs have.
    #[inline]
    fn parse_plain(text: &[u8]) -> Option<Self> {
        Self::parse_usual(text).or_else(|| Self::parse_digits(text))
    }

    /// Reads an ID of a time between 2001 and 2286, whose milliseconds have 13 digits, and of up to eight behind these.
    #[inline]
    fn parse_usual(text: &[u8]) -> Option<Self> {
        let seq_digits = text.len().checked_sub(MS_DIGITS + 1)?;
        if !(1..=8).contains(&seq_digits) || text[MS_DIGITS] != b'-' {
            return None;
        }
        let first_eight = eight_digits(*text.first_chunk()?)?;
        let last_eight = eight_digits(*text[..MS_DIGITS].last_chunk()?)?;
        let seq = last_digits(*text.last_chunk()?, seq_digits)?;
        // Three of the digits are among both.
        let ms = first_eight / 1_000 * 100_000_000 + last_eight;
        Some(Self { ms, seq })
    }

    fn parse_digits(text: &[u8]) -> Option<Self> {
        let (ms, rest) = few_digits(text)?;
        let (seq, rest) = few_digits(rest.strip_prefix(b"-")?)?;
        rest.is_empty().then_some(Self { ms, seq })
    }

    fn parse_any(text: &[u8], seq_default: u64) -> Result<Self, InvalidId> {
        let (ms, seq) = split(text)?;
        let ms = number(ms)?;
        let seq = seq.map_or(Ok(seq_default), number)?;
        Ok(Self { ms, seq })
    }

    /// Reads like [`StreamId::parse`], and takes `-` for the least and `+` for the greatest ID.
    ///
    /// # Errors
    ///
    /// [`InvalidId`] for anything else.
    pub fn parse_bound(text: &[u8], seq_default: u64) -> Result<Self, InvalidId> {
        if let [b'-' | b'+', ..] = text {
            match until_nul(text) {
                b"-" => return Ok(Self::MIN),
                b"+" => return Ok(Self::MAX),
                _ => {}
            }
        }
        Self::parse(text, seq_default)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

/// Which ID a new entry is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdRequest {
    /// `*`: the time, or the ID after the last one if that is not greater.
    Auto,
    /// `ms-*`: this millisecond, the next free number in it.
    AutoSeq {
        /// The millisecond asked for.
        ms: u64,
    },
    /// This one and no other.
    Exact(StreamId),
}

impl IdRequest {
    /// Reads `*`, `ms-*`, `ms-seq`, or `ms` for `ms-0`.
    ///
    /// # Errors
    ///
    /// [`InvalidId`] for anything else. `0-0` is read: the stream refuses it, with an error of its own.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidId> {
        if let Some(id) = StreamId::parse_plain(text) {
            return Ok(Self::Exact(id));
        }
        if until_nul(text) == b"*" {
            return Ok(Self::Auto);
        }
        let (ms, seq) = split(text)?;
        let ms = number(ms)?;
        Ok(match seq {
            Some(b"*") => Self::AutoSeq { ms },
            Some(seq) => Self::Exact(StreamId {
                ms,
                seq: number(seq)?,
            }),
            None => Self::Exact(StreamId { ms, seq: 0 }),
        })
    }
}

/// The text is not an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid stream ID")
    }
}

impl std::error::Error for InvalidId {}

/// Divides at the first dash.
fn split(text: &[u8]) -> Result<(&[u8], Option<&[u8]>), InvalidId> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(InvalidId);
    }
    let text = until_nul(text);
    match text.iter().position(|&byte| byte == b'-') {
        Some(dash) => Ok((&text[..dash], Some(&text[dash + 1..]))),
        None => Ok((text, None)),
    }
}

/// The reference reads IDs as C strings: what follows a zero byte is not seen.
fn until_nul(text: &[u8]) -> &[u8] {
    match text.iter().position(|&byte| byte == 0) {
        Some(end) => &text[..end],
        None => text,
    }
}

fn number(text: &[u8]) -> Result<u64, InvalidId> {
    digits(text)
        .or_else(|| signed_number(text))
        .ok_or(InvalidId)
}

/// Reads the digits in front, if there are some and they fit into 64 bits whatever they are.
#[inline]
fn few_digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let eight = text.first_chunk().and_then(|eight| eight_digits(*eight));
    let (mut number, mut count) = eight.map_or((0, 0), |number| (number, 8));
    for byte in text.iter().skip(count) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if count == FEW_DIGITS {
            return None;
        }
        number = number * 10 + u64::from(digit);
        count += 1;
    }
    (count > 0).then(|| (number, &text[count..]))
}

/// Reads the last of eight bytes, as many as `count`, if these are digits; there is one, and no more than all.
#[inline]
const fn last_digits(text: [u8; 8], count: usize) -> Option<u64> {
    let unread = 64 - 8 * count;
    let digits = u64::from_le_bytes(text) >> unread << unread;
    let zeros = 0x3030_3030_3030_3030 & !(u64::MAX << unread);
    eight_digits((digits | zeros).to_le_bytes())
}

/// Reads eight digits at once: neighbours make pairs, pairs make fours, and two of these are the number.
#[inline]
const fn eight_digits(text: [u8; 8]) -> Option<u64> {
    let digits = u64::from_le_bytes(text) ^ 0x3030_3030_3030_3030;
    // What is above nine gets the highest bit of its byte, if it has not got it.
    let above = digits.wrapping_add(0x7676_7676_7676_7676) | digits;
    if above & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Reads one or more digits and nothing else.
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Reads a number as C's `strtoull` does: blanks, a sign, digits; a minus sign negates modulo 2^64.
fn signed_number(text: &[u8]) -> Option<u64> {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let (sign, rest) = text[blanks..].split_first()?;
    let number = match sign {
        b'-' | b'+' => digits(rest)?,
        _ => digits(&text[blanks..])?,
    };
    if *sign != b'-' {
        return Some(number);
    }
    // Plain negative numbers are caught by the reference's own parser before `strtoull` sees them.
    let plain = blanks == 0 && rest[0] != b'0' && number <= I64_MIN_MAGNITUDE;
    (!plain).then(|| number.wrapping_neg())
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The reference copies an ID into a buffer of 128 bytes, end mark included, before it reads it.
const TEXT_BYTES_MAX: usize = 127;
/// Milliseconds have so many digits from 2001 to 2286.
const MS_DIGITS: usize = 13;
/// As many digits are always below 2^64.
const FEW_DIGITS: usize = 19;
const I64_MIN_MAGNITUDE: u64 = i64::MIN.unsigned_abs();

#[cfg(test)]
mod tests;
