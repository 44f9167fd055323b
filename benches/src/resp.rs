//! As much RESP2 as a load generator needs: commands to bytes, and a reader for replies of a known shape.

use memchr::memchr;

use crate::fault::Fault;

/// Appends one command to `out`.
pub(crate) fn push_command(out: &mut Vec<u8>, args: &[&[u8]]) {
    push_header(out, args.len());
    for arg in args {
        push_bulk(out, arg);
    }
}

/// Appends the header of a command of `args` arguments, each to follow by [`push_bulk`].
pub(crate) fn push_header(out: &mut Vec<u8>, args: usize) {
    push_number(out, b'*', args);
}

/// Appends one argument.
pub(crate) fn push_bulk(out: &mut Vec<u8>, arg: &[u8]) {
    push_number(out, b'$', arg.len());
    out.extend_from_slice(arg);
    out.extend_from_slice(b"\r\n");
}

/// Appends a header line. Made by hand, as clients that acknowledge write very many.
fn push_number(out: &mut Vec<u8>, kind: u8, number: usize) {
    out.push(kind);
    let digits = number.checked_ilog10().unwrap_or(0);
    for place in (0..=digits).rev() {
        let digit = number / 10_usize.pow(place) % 10;
        out.push(b'0' + digit.to_le_bytes()[0]);
    }
    out.extend_from_slice(b"\r\n");
}

/// Splits `bytes` after its first line; the line comes without its ending.
///
/// `None` if there is no whole line yet.
pub(crate) fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b'\n', bytes)?;
    let line = &bytes[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), &bytes[end + 1..]))
}

/// Reads the number behind the first byte of a header line, as in `$12`.
pub(crate) fn header_number(line: &[u8]) -> Option<i64> {
    let (negative, digits) = match line.get(1..)? {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_i64;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number = number.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if negative { -number } else { number })
}

/// Walks over replies that are there as a whole.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// How many bytes there were at first.
    len: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte of a reply.
    pub(crate) fn new(replies: &'a [u8]) -> Self {
        Self {
            rest: replies,
            len: replies.len(),
        }
    }

    /// How many bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// Reads an integer.
    pub(crate) fn integer(&mut self) -> Result<i64, Fault> {
        self.number(b':')
    }

    /// Reads the header of an array, whose elements follow; `None` for the null array.
    pub(crate) fn array(&mut self) -> Result<Option<usize>, Fault> {
        Ok(usize::try_from(self.number(b'*')?).ok())
    }

    /// Reads a bulk string; `None` for the null bulk.
    pub(crate) fn bulk(&mut self) -> Result<Option<&'a [u8]>, Fault> {
        let Ok(len) = usize::try_from(self.number(b'$')?) else {
            return Ok(None);
        };
        let Some((text, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.unexpected("a bulk string that is cut short"));
        };
        self.rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
        Ok(Some(text))
    }

    fn number(&mut self, kind: u8) -> Result<i64, Fault> {
        let Some((line, rest)) = split_line(self.rest) else {
            return Err(self.unexpected("nothing"));
        };
        if line.first() != Some(&kind) {
            return Err(self.unexpected(&String::from_utf8_lossy(line)));
        }
        let Some(number) = header_number(line) else {
            return Err(self.unexpected(&String::from_utf8_lossy(line)));
        };
        self.rest = rest;
        Ok(number)
    }

    fn unexpected(&self, found: &str) -> Fault {
        Fault::Unexpected(format!(
            "{found} ({} bytes before the end)",
            self.rest.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_an_array_of_bulk_strings() {
        let mut out = Vec::new();

        push_command(&mut out, &[b"XLEN", b"key of ten", b""]);

        assert_eq!(out, b"*3\r\n$4\r\nXLEN\r\n$10\r\nkey of ten\r\n$0\r\n\r\n");
    }

    #[test]
    fn a_reply_is_read_by_its_shape() {
        let mut reader = Reader::new(b":-7\r\n*2\r\n$1\r\na\r\n$-1\r\n*-1\r\n");

        assert_eq!(reader.integer().unwrap(), -7);
        assert_eq!(reader.array().unwrap(), Some(2));
        assert_eq!(reader.bulk().unwrap(), Some(&b"a"[..]));
        assert_eq!(reader.bulk().unwrap(), None);
        assert_eq!(reader.array().unwrap(), None);
        assert!(reader.integer().is_err());
    }

    #[test]
    fn a_reply_of_another_shape_is_a_fault() {
        assert!(Reader::new(b":7\r\n").bulk().is_err());
        assert!(Reader::new(b"$x\r\n").bulk().is_err());
        assert!(Reader::new(b"$3\r\nab").bulk().is_err());
    }
}
