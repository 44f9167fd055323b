//! Finds whole requests in an input buffer.

mod array;
mod headers;

use crate::batch::Batch;
use crate::error::ProtocolError;
use crate::inline;
use crate::limits::Limits;
use crate::request::Span;

use self::array::Half;
pub(crate) use self::headers::Headers;

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
    /// Returns how many bytes of `input` are done with: whole requests, and lines of blanks. The caller
    /// drops those, now or once it has executed the requests, and the rest must come back at the front
    /// of the next `input`. Requests without arguments (`*0`, an empty line) are found, too: nothing
    /// answers them, but something may have been meant for the next request.
    ///
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

    /// The memory that half a command takes here, in bytes. Its own bytes are with the caller.
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
        let mut progress = Half::starting_at(start);
        if progress.read(input, &self.limits, &mut batch.headers, &mut batch.spans)? {
            batch.push(progress.at, false);
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
        let (headers, spans) = (&mut batch.headers, &mut self.half_spans);
        if !self.half.read(input, &self.limits, headers, spans)? {
            return Ok(None);
        }
        let end = self.half.at;
        self.half = Half::default();
        batch.spans.append(&mut self.half_spans);
        batch.push(end, false);
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
        let Batch {
            spans,
            inline_bytes,
            ..
        } = batch;
        inline::split(line, self.limits.quotes_end_words, spans, inline_bytes)?;
        let end = start + line_end + 1;
        if batch.spans.len() > spans_start || line.is_empty() {
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

    /// Whether a batch ended because of them, so that there may be more requests behind it.
    pub fn are_reached(self, batch: &Batch) -> bool {
        batch.len() >= self.commands_max || batch.input_bytes(batch.len()) >= self.bytes_max
    }
}

/// Arguments of half a command that a connection keeps room for once that command is whole.
const HALF_SPANS_KEPT_MAX: usize = 32;

#[cfg(test)]
mod tests;
