//! Counts whole replies in a stream of bytes without building them.
//!
//! A reply is done when no element of it is missing any more. Nesting needs no stack for that: an
//! aggregate takes one from the number of missing elements and adds its own count.

use crate::fault::Fault;
use crate::resp::header_number;
use crate::resp::split_line;

/// Counts whole replies, wherever the network cuts the bytes.
#[derive(Debug, Default)]
pub(crate) struct Skimmer {
    /// Bytes of a bulk string, with its line ending, that are still to come.
    body_bytes: u64,
    /// Elements that the reply in progress still lacks; 0 between replies.
    missing: u64,
    /// The reply in progress is a push: it answers nothing.
    push: bool,
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    /// Bytes of a reply that was compared as far as it had come.
    compared: usize,
    replies: u64,
}

impl Skimmer {
    /// Looks at the next bytes.
    ///
    /// # Errors
    ///
    /// - [`Fault::ErrorReply`] if there is an error among the replies, at whatever depth.
    /// - [`Fault::Unexpected`] if the bytes are not RESP.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Fault> {
        loop {
            bytes = self.skip_body(bytes);
            if bytes.is_empty() {
                return Ok(());
            }
            if self.line.is_empty()
                && let Some((len, rest)) = short_bulk(bytes)
            {
                if self.missing == 0 {
                    self.missing = 1;
                    self.push = false;
                }
                self.body_bytes = len;
                bytes = rest;
                continue;
            }
            let Some((line, rest)) = split_line(bytes) else {
                return self.keep(bytes);
            };
            if self.line.is_empty() {
                self.on_line(line)?;
            } else {
                self.keep(&bytes[..bytes.len() - rest.len()])?;
                let kept = std::mem::take(&mut self.line);
                let (line, _) = split_line(&kept).unwrap_or((&kept, &[]));
                self.on_line(line)?;
            }
            bytes = rest;
        }
    }

    /// Looks at the next bytes, most of which are `reply` over and over: whole ones are compared, not looked into.
    ///
    /// # Errors
    ///
    /// As [`Skimmer::feed`].
    pub(crate) fn feed_alike(&mut self, mut bytes: &[u8], reply: &[u8]) -> Result<(), Fault> {
        if reply.is_empty() || self.missing > 0 || !self.line.is_empty() {
            return self.feed(bytes);
        }
        loop {
            let expected = &reply[self.compared..];
            if let Some(rest) = bytes.strip_prefix(expected) {
                self.compared = 0;
                self.replies += 1;
                bytes = rest;
            } else if expected.starts_with(bytes) {
                self.compared += bytes.len();
                return Ok(());
            } else {
                let compared = std::mem::take(&mut self.compared);
                self.feed(&reply[..compared])?;
                return self.feed(bytes);
            }
        }
    }

    /// Takes the number of replies that were done since the last call, pushes not among them.
    pub(crate) fn take_replies(&mut self) -> u64 {
        std::mem::take(&mut self.replies)
    }

    /// Returns the number of replies that are done, pushes not among them.
    pub(crate) fn replies(&self) -> u64 {
        self.replies
    }

    /// Tells whether the bytes so far end between two replies.
    pub(crate) fn is_between_replies(&self) -> bool {
        self.missing == 0 && self.line.is_empty() && self.compared == 0
    }

    fn skip_body<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.body_bytes == 0 {
            return bytes;
        }
        let here = usize::try_from(self.body_bytes).map_or(bytes.len(), |n| n.min(bytes.len()));
        self.body_bytes -= here as u64;
        if self.body_bytes == 0 {
            self.on_element();
        }
        &bytes[here..]
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.line.len() + bytes.len() > LINE_BYTES_MAX {
            return Err(Fault::Unexpected("a line without an end".to_owned()));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn on_line(&mut self, line: &[u8]) -> Result<(), Fault> {
        let kind = line.first().copied().unwrap_or(0);
        if self.missing == 0 {
            self.missing = 1;
            self.push = kind == b'>';
        }
        match kind {
            b'+' | b':' | b'_' | b'#' | b',' | b'(' => self.on_element(),
            b'-' => {
                let text = String::from_utf8_lossy(&line[1..]).into_owned();
                return Err(Fault::ErrorReply(text));
            }
            b'$' | b'=' => match u64::try_from(number(line)?) {
                Ok(len) => self.body_bytes = len.saturating_add(2),
                Err(_) => self.on_element(),
            },
            b'*' | b'~' | b'>' => self.on_aggregate(number(line)?, 1)?,
            b'%' => self.on_aggregate(number(line)?, 2)?,
            // An attribute comes before the element that it is about.
            b'|' => {
                self.missing += 1;
                self.on_aggregate(number(line)?, 2)?;
            }
            _ => return Err(malformed(line)),
        }
        Ok(())
    }

    fn on_aggregate(&mut self, count: i64, elements_each: u64) -> Result<(), Fault> {
        // A negative count is a null, which has no elements.
        let more = u64::try_from(count).unwrap_or(0).checked_mul(elements_each);
        self.missing = more
            .and_then(|more| self.missing.checked_add(more))
            .ok_or_else(|| Fault::Unexpected(format!("an aggregate of {count}")))?;
        self.on_element();
        Ok(())
    }

    fn on_element(&mut self) {
        self.missing -= 1;
        if self.missing == 0 && !self.push {
            self.replies += 1;
        }
    }
}

/// Reads the header of a bulk string with up to two digits, which most are, and without a search for its end.
fn short_bulk(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digit = |byte: u8| {
        byte.checked_sub(b'0')
            .filter(|digit| *digit < 10)
            .map(u64::from)
    };
    let (len, rest) = match bytes {
        [b'$', ones, b'\r', b'\n', rest @ ..] => (digit(*ones)?, rest),
        [b'$', tens, ones, b'\r', b'\n', rest @ ..] => (10 * digit(*tens)? + digit(*ones)?, rest),
        _ => return None,
    };
    Some((len + 2, rest))
}

fn number(line: &[u8]) -> Result<i64, Fault> {
    header_number(line).ok_or_else(|| malformed(line))
}

fn malformed(line: &[u8]) -> Fault {
    Fault::Unexpected(format!("{:?} is not RESP", String::from_utf8_lossy(line)))
}

/// The longest header, simple string or error that is taken for one.
const LINE_BYTES_MAX: usize = 64 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    const REPLIES: &[u8] = b"+OK\r\n:-5\r\n$5\r\na\r\nbc\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n\
        *2\r\n*1\r\n$1\r\nx\r\n*2\r\n:1\r\n*0\r\n%1\r\n+a\r\n_\r\n,1.5\r\n#t\r\n(12\r\n~1\r\n:1\r\n\
        |1\r\n+k\r\n+v\r\n*1\r\n:2\r\n>2\r\n+message\r\n=5\r\ntxt:a\r\n";

    /// The push at the end answers nothing.
    const COUNT: u64 = 14;

    #[test]
    fn where_the_network_cuts_does_not_matter() {
        for size in 1..=REPLIES.len() {
            let mut skimmer = Skimmer::default();
            for piece in REPLIES.chunks(size) {
                skimmer.feed(piece).unwrap();
            }
            assert_eq!(skimmer.replies(), COUNT, "cut every {size} bytes");
            assert!(skimmer.is_between_replies());
        }
    }

    #[test]
    fn replies_that_are_alike_are_counted_like_others() {
        let message = b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n";
        let other = b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\nyou\r\n";
        let all = [&message[..], message, other, message, b"+OK\r\n", message].concat();
        for size in 1..=all.len() {
            let mut skimmer = Skimmer::default();
            for piece in all.chunks(size) {
                skimmer.feed_alike(piece, message).unwrap();
            }
            assert_eq!(skimmer.replies(), 6, "cut every {size} bytes");
            assert!(skimmer.is_between_replies());
        }
    }

    #[test]
    fn half_a_reply_is_not_counted() {
        let mut skimmer = Skimmer::default();

        skimmer.feed(b"+OK\r\n*2\r\n:1\r\n").unwrap();
        assert_eq!(skimmer.take_replies(), 1);
        assert!(!skimmer.is_between_replies());

        skimmer.feed(b":2\r\n").unwrap();
        assert_eq!(skimmer.take_replies(), 1);
    }

    #[test]
    fn an_error_is_found_at_any_depth() {
        let mut skimmer = Skimmer::default();

        let fault = skimmer.feed(b"*2\r\n+OK\r\n*1\r\n-ERR no\r\n");

        assert!(matches!(fault, Err(Fault::ErrorReply(text)) if text == "ERR no"));
    }

    #[test]
    fn what_is_not_resp_is_a_fault() {
        for bytes in [
            &b"HTTP/1.1\r\n"[..],
            b"$x\r\n",
            b"\r\n",
            b"*9223372036854775808\r\n",
        ] {
            let fault = Skimmer::default().feed(bytes);
            assert!(matches!(fault, Err(Fault::Unexpected(_))), "{bytes:?}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut skimmer = Skimmer::default();

        skimmer.feed(&vec![b'+'; LINE_BYTES_MAX]).unwrap();
        assert!(skimmer.feed(b"+").is_err());
    }
}
