//! Finds whole requests in an input buffer.

use crate::batch::Batch;
use crate::error::ProtocolError;
use crate::inline;
use crate::limits::Limits;
use crate::number;
use crate::request::Span;

/// Finds requests in the bytes of one connection, and remembers how far half a command was read so
/// that nothing is scanned twice.
///
/// Where the network cut the bytes makes no difference to what comes out, faults included.
#[derive(Debug, Default)]
pub struct Decoder {
    limits: Limits,
    half: Half,
    /// The arguments of half a command, as positions from its first byte.
    half_spans: Vec<Span>,
}

impl Decoder {
    /// A decoder at the start of a connection.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Finds whole requests in `input` and puts them into `batch`, in place of what that held, until
    /// a bound is reached or nothing whole is left.
    ///
    /// Returns how many bytes of `input` are done with: whole requests, and the empty ones (`*0`, an
    /// empty line) that are passed over in silence. The caller drops those, now or once it has
    /// executed the requests, and the rest must come back at the front of the next `input`.
    /// A caller that stops halfway and gives requests again must [`Self::reset`] first.
    ///
    /// The limits hold for the whole call, so a client whose next command may change them (AUTH)
    /// is decoded one command at a time.
    ///
    /// # Errors
    ///
    /// A [`ProtocolError`] is final: reply to the requests in `batch`, which came before the fault,
    /// then with the error, and close.
    pub fn decode(
        &mut self,
        input: &[u8],
        batch: &mut Batch,
        bounds: BatchBounds,
    ) -> Result<usize, ProtocolError> {
        batch.clear();
        let mut at = 0;
        while at < input.len() && at < bounds.bytes_max && batch.len() < bounds.commands_max {
            let end = match input[at] {
                b'*' => self.decode_array(input, at, batch)?,
                _ => self.decode_inline(input, at, batch)?,
            };
            let Some(end) = end else {
                break;
            };
            at = end;
        }
        Ok(at)
    }

    /// Sets other limits. They hold from the next header on that is read.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Forgets half a command: the next input starts with a whole one.
    pub fn reset(&mut self) {
        self.half = Half::default();
        self.half_spans = Vec::new();
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How many bytes of the argument that half a command ends in are still to come, its line end
    /// included; 0 if it does not end in one. This is what the client promises: bound what you
    /// reserve.
    pub fn missing_bytes(&self) -> usize {
        self.half.bytes_missing
    }

    /// The memory that half a command takes here, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.half_spans.capacity() * size_of::<Span>()
    }

    /// Reads the array that starts at `start`. Returns its end, or `None` if it is not whole yet.
    #[inline]
    fn decode_array(
        &mut self,
        input: &[u8],
        start: usize,
        batch: &mut Batch,
    ) -> Result<Option<usize>, ProtocolError> {
        // Half a command is always at the front of the input.
        if start == 0 && self.half != Half::default() {
            return self.resume_array(input, batch);
        }
        let spans_start = batch.spans.len();
        let mut progress = Half {
            at: start,
            ..Half::default()
        };
        if progress.read(input, &self.limits, &mut batch.spans)? {
            if batch.spans.len() > spans_start {
                batch.push(progress.at, false);
            }
            return Ok(Some(progress.at));
        }
        let spans = batch.spans.drain(spans_start..);
        self.half_spans
            .extend(spans.map(|span| span.moved_back(start)));
        progress.at -= start;
        self.half = progress;
        Ok(None)
    }

    /// Goes on with the array at the front of `input`.
    fn resume_array(
        &mut self,
        input: &[u8],
        batch: &mut Batch,
    ) -> Result<Option<usize>, ProtocolError> {
        if !self.half.read(input, &self.limits, &mut self.half_spans)? {
            return Ok(None);
        }
        let end = self.half.at;
        self.half = Half::default();
        if !self.half_spans.is_empty() {
            batch.spans.append(&mut self.half_spans);
            batch.push(end, false);
        }
        self.half_spans.shrink_to(HALF_SPANS_KEPT_MAX);
        Ok(Some(end))
    }

    /// Reads the inline command that starts at `start`. Returns its end, or `None` if it is not whole
    /// yet.
    ///
    /// A zero byte hides whatever line end comes after it, as in the reference: such a line never
    /// ends, until it is too long.
    fn decode_inline(
        &mut self,
        input: &[u8],
        start: usize,
        batch: &mut Batch,
    ) -> Result<Option<usize>, ProtocolError> {
        let rest = &input[start..];
        let line_bytes_max = self.limits.inline_bytes_max;
        let within = &rest[..rest.len().min(line_bytes_max + 2)];
        let unseen = &within[self.half.scanned..];
        let stop = unseen.iter().position(|byte| matches!(byte, b'\n' | 0));
        let line_end = stop.map_or(within.len(), |stop| self.half.scanned + stop);
        let line = &within[..line_end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);

        let hidden = within.get(line_end) == Some(&0);
        if line.len() > line_bytes_max || (hidden && rest.len() > line_bytes_max) {
            return Err(ProtocolError::TooBigInlineRequest);
        }
        if hidden || stop.is_none() {
            self.half.scanned = line_end;
            return Ok(None);
        }
        self.half.scanned = 0;

        let spans_start = batch.spans.len();
        inline::split(line, &mut batch.spans, &mut batch.inline_bytes)?;
        let end = start + line_end + 1;
        if batch.spans.len() > spans_start {
            batch.push(end, true);
        }
        Ok(Some(end))
    }
}

/// When to stop looking for more requests, so that one client's long pipeline does not hold up the
/// others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BatchBounds {
    /// Requests in one batch.
    pub commands_max: usize,
    /// Bytes of input after which no further request is begun.
    pub bytes_max: usize,
}

impl BatchBounds {
    /// One request.
    pub const ONE: Self = Self {
        commands_max: 1,
        bytes_max: usize::MAX,
    };
    /// Everything that is there.
    pub const NONE: Self = Self {
        commands_max: usize::MAX,
        bytes_max: usize::MAX,
    };
}

/// How far an array was read, or how far a line was looked through.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Half {
    /// Where to read on. Invariant: 0 if an array's count is still to be read.
    at: usize,
    /// Arguments still to come once the count is known; 0 before.
    args_missing: usize,
    /// The length of the argument at `at`, once known.
    bulk_len: Option<usize>,
    /// Bytes of that argument and its line end that have not arrived.
    bytes_missing: usize,
    /// Bytes from `at` on that hold no line end.
    scanned: usize,
}

impl Half {
    /// Reads on until the array is whole (`true`) or the input is used up (`false`), and appends
    /// where its arguments lie.
    #[inline]
    fn read(
        &mut self,
        input: &[u8],
        limits: &Limits,
        spans: &mut Vec<Span>,
    ) -> Result<bool, ProtocolError> {
        self.bytes_missing = 0;
        if self.args_missing == 0 {
            match self.read_count(input, limits)? {
                Some(count) => self.args_missing = count,
                None => return Ok(false),
            }
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

/// Reads a header of one to three digits, as nearly all are, behind its first byte. Returns the
/// number and the length of the header. `None` is no fault: it may be longer, or not all there.
#[inline]
fn short_number(header: &[u8]) -> Option<(usize, usize)> {
    let value = |digit: u8| usize::from(digit - b'0');
    match *header {
        [_, a @ b'0'..=b'9', b'\r', b'\n', ..] => Some((value(a), 4)),
        [_, a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', b'\n', ..] => {
            Some((value(a) * 10 + value(b), 5))
        }
        [
            _,
            a @ b'1'..=b'9',
            b @ b'0'..=b'9',
            c @ b'0'..=b'9',
            b'\r',
            b'\n',
            ..,
        ] => Some((value(a) * 100 + value(b) * 10 + value(c), 6)),
        _ => None,
    }
}

/// Arguments of half a command that a connection keeps room for once that command is whole.
const HALF_SPANS_KEPT_MAX: usize = 32;

#[cfg(test)]
mod tests;
