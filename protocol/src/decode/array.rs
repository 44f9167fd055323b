//! Reads one array of strings, in as many pieces as it comes in.

use super::headers::Headers;
use super::headers::Text;
use crate::error::ProtocolError;
use crate::limits::Limits;
use crate::number;
use crate::request::Span;

/// How far an array was read, or how far a line was looked through.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Half {
    /// Where to read on. Invariant: 0 if an array's count is still to be read.
    pub(super) at: usize,
    /// Arguments still to come once the count is known; 0 before.
    args_missing: usize,
    /// The length of the argument at `at`, once known.
    bulk_len: Option<usize>,
    /// Bytes of that argument and its line end that have not arrived.
    pub(super) bytes_missing: usize,
    /// Bytes from `at` on that hold no line end.
    pub(super) scanned: usize,
}

impl Half {
    #[inline]
    pub(super) fn starting_at(at: usize) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }

    /// Reads on until the array is whole (`true`) or the input is used up (`false`), and appends
    /// where its arguments lie.
    #[inline]
    pub(super) fn read(
        &mut self,
        input: &[u8],
        limits: &Limits,
        headers: &mut Headers,
        spans: &mut Vec<Span>,
    ) -> Result<bool, ProtocolError> {
        self.bytes_missing = 0;
        if self.args_missing == 0 {
            match self.read_count(input, limits)? {
                Some(count) => self.args_missing = count,
                None => return Ok(false),
            }
        }
        if self.bulk_len.is_none() && self.scanned == 0 && limits.bulk_bytes_max >= SHORT_MAX {
            self.read_short(input, headers, spans);
        }
        while self.args_missing > 0 {
            let len = match self.bulk_len.take() {
                Some(len) => len,
                None => match self.read_len(input, limits)? {
                    Some(len) => len,
                    None => return Ok(false),
                },
            };
            let after = &input[self.at..];
            let Some(line_end) = after.get(len..).and_then(|tail| tail.first_chunk()) else {
                self.bulk_len = Some(len);
                self.bytes_missing = len.saturating_add(2) - after.len();
                return Ok(false);
            };
            if line_end != b"\r\n" {
                return Err(ProtocolError::InvalidLineEnd);
            }
            spans.push(Span::new(self.at, self.at + len));
            self.at += len + 2;
            self.args_missing -= 1;
        }
        Ok(true)
    }

    /// Reads arguments for as long as they are short and whole, as nearly all are: no limit is below their
    /// lengths, and nothing has to be kept until they are through.
    #[inline]
    fn read_short(&mut self, input: &[u8], headers: &mut Headers, spans: &mut Vec<Span>) {
        let (mut at, mut missing) = (self.at, self.args_missing);
        let mut place = Headers::first(missing);
        while missing > 0 {
            let rest = &input[at..];
            let known = headers.read(place, rest);
            let Some(text) = known.or_else(|| read_short_header(headers, place, rest)) else {
                break;
            };
            let (start, end) = (at + text.start as usize, at + text.end as usize);
            let line_end = input.get(end..).and_then(|tail| tail.first_chunk());
            if line_end != Some(b"\r\n") {
                break;
            }
            spans.push(Span::new(start, end));
            at = end + 2;
            missing -= 1;
            place += 1;
        }
        (self.at, self.args_missing) = (at, missing);
    }

    /// Reads `*<count>\r\n`. A count below zero is as good as zero.
    #[inline]
    fn read_count(
        &mut self,
        input: &[u8],
        limits: &Limits,
    ) -> Result<Option<usize>, ProtocolError> {
        let count = match short_number(&input[self.at..]) {
            Some((count, bytes)) => {
                self.step_over(bytes);
                count
            }
            None => match self.read_long_count(input, limits)? {
                Some(count) => count,
                None => return Ok(None),
            },
        };
        if count > limits.args_max {
            return Err(ProtocolError::InvalidCount);
        }
        if count > Limits::UNAUTHENTICATED_ARGS_MAX && !limits.authenticated {
            return Err(ProtocolError::UnauthenticatedCount);
        }
        Ok(Some(count))
    }

    /// Reads any count that is not short, or says what is wrong with it.
    #[cold]
    fn read_long_count(
        &mut self,
        input: &[u8],
        limits: &Limits,
    ) -> Result<Option<usize>, ProtocolError> {
        let too_long = ProtocolError::TooBigCountLine;
        let Some(line) = self.find_line(input, limits, too_long)? else {
            return Ok(None);
        };
        self.end_line(input, line)?;
        let Some(count) = number::parse_i64(&line[1..]) else {
            return Err(ProtocolError::InvalidCount);
        };
        Ok(Some(usize::try_from(count).unwrap_or(0)))
    }

    /// Reads `$<length>\r\n`.
    #[inline]
    fn read_len(&mut self, input: &[u8], limits: &Limits) -> Result<Option<usize>, ProtocolError> {
        let rest = &input[self.at..];
        let len = match short_number(rest) {
            Some((len, bytes)) if rest[0] == b'$' => {
                self.step_over(bytes);
                len
            }
            _ => match self.read_long_len(input, limits)? {
                Some(len) => len,
                None => return Ok(None),
            },
        };
        if len > limits.bulk_bytes_max {
            return Err(ProtocolError::InvalidLength);
        }
        if len > Limits::UNAUTHENTICATED_BULK_BYTES_MAX && !limits.authenticated {
            return Err(ProtocolError::UnauthenticatedLength);
        }
        Ok(Some(len))
    }

    /// Reads any length that is not short, or says what is wrong with it.
    #[cold]
    fn read_long_len(
        &mut self,
        input: &[u8],
        limits: &Limits,
    ) -> Result<Option<usize>, ProtocolError> {
        let too_long = ProtocolError::TooBigLengthLine;
        let Some(line) = self.find_line(input, limits, too_long)? else {
            return Ok(None);
        };
        // An empty line is one that starts with its line end.
        let first = line.first().copied().unwrap_or(b'\r');
        if first != b'$' {
            return Err(ProtocolError::ExpectedBulk(first));
        }
        self.end_line(input, line)?;
        let len = number::parse_i64(&line[1..]).and_then(|len| usize::try_from(len).ok());
        len.map(Some).ok_or(ProtocolError::InvalidLength)
    }

    /// The line at `at`, without its line end, once it and the byte after CR have arrived.
    fn find_line<'a>(
        &mut self,
        input: &'a [u8],
        limits: &Limits,
        too_long: ProtocolError,
    ) -> Result<Option<&'a [u8]>, ProtocolError> {
        let rest = &input[self.at..];
        let within = &rest[..rest.len().min(limits.inline_bytes_max + 1)];
        let unseen = &within[self.scanned..];
        let Some(cr) = unseen.iter().position(|byte| *byte == b'\r') else {
            if rest.len() > limits.inline_bytes_max {
                return Err(too_long);
            }
            self.scanned = within.len();
            return Ok(None);
        };
        self.scanned += cr;
        if self.scanned + 1 == rest.len() {
            return Ok(None);
        }
        Ok(Some(&rest[..self.scanned]))
    }

    /// Steps over a line that was found, and its line end.
    fn end_line(&mut self, input: &[u8], line: &[u8]) -> Result<(), ProtocolError> {
        if input[self.at + line.len() + 1] != b'\n' {
            return Err(ProtocolError::InvalidLineEnd);
        }
        self.step_over(line.len() + 2);
        Ok(())
    }

    /// Goes on behind a line of so many bytes, its line end included.
    #[inline]
    fn step_over(&mut self, line_bytes: usize) {
        self.at += line_bytes;
        self.scanned = 0;
    }
}

/// Reads the header of a short argument that is not the one that was expected there.
#[inline(never)]
fn read_short_header(headers: &mut Headers, place: usize, rest: &[u8]) -> Option<Text> {
    let (len, header_bytes) = short_number(rest)?;
    if rest[0] != b'$' {
        return None;
    }
    let (len, header_bytes) = (u16::try_from(len).ok()?, u8::try_from(header_bytes).ok()?);
    Some(headers.learn(place, rest, header_bytes, len))
}

/// Reads a header of one to three digits, as nearly all are, behind its first byte. Returns the
/// number and the length of the header. `None` is no fault: it may be longer, or not all there.
#[inline]
fn short_number(header: &[u8]) -> Option<(usize, usize)> {
    let value = |digit: u8| usize::from(digit - b'0');
    match header
        .first_chunk()
        .copied()
        .unwrap_or_else(|| padded(header))
    {
        [_, a @ b'0'..=b'9', b'\r', b'\n', ..] => Some((value(a), 4)),
        [_, a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', b'\n', _] => {
            Some((value(a) * 10 + value(b), 5))
        }
        [
            _,
            a @ b'1'..=b'9',
            b @ b'0'..=b'9',
            c @ b'0'..=b'9',
            b'\r',
            b'\n',
        ] => Some((value(a) * 100 + value(b) * 10 + value(c), 6)),
        _ => None,
    }
}

/// The last bytes of an input, and zeros.
#[cold]
fn padded(rest: &[u8]) -> [u8; 6] {
    let mut bytes = [0; 6];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// The greatest number that [`short_number`] reads.
const SHORT_MAX: usize = 999;
const _: () = assert!(SHORT_MAX <= Limits::UNAUTHENTICATED_BULK_BYTES_MAX);
