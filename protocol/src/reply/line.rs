//! Lines and headers of replies.

use crate::number;
use crate::number::DIGITS_MAX;
use crate::number::digit;

/// A short line that is written from its end to its start, as digits come.
pub(super) struct Line {
    bytes: [u8; LINE_BYTES_MAX],
    /// Invariant: the line is what lies from here on.
    start: usize,
}

impl Line {
    #[inline]
    pub(super) fn new() -> Self {
        let mut bytes = [0; LINE_BYTES_MAX];
        bytes[LINE_BYTES_MAX - 2..].copy_from_slice(b"\r\n");
        Self {
            bytes,
            start: LINE_BYTES_MAX - 2,
        }
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    #[inline]
    pub(super) fn digits(&mut self, value: u64) {
        self.start = number::write_back(&mut self.bytes[..self.start], value);
    }

    /// Puts `$n` before what was written so far, its line end not counted.
    #[inline]
    pub(super) fn bulk_header(&mut self) {
        let len = self.bytes.len() - self.start - 2;
        self.byte(b'\n');
        self.byte(b'\r');
        self.digits(len as u64);
        self.byte(b'$');
    }

    #[inline]
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes[self.start..]);
    }
}

/// A header: that of a string, unless its first byte is changed.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) bytes: [u8; 8],
    pub(super) len: u8,
}

impl Header {
    /// The header of a number below 1000.
    const fn ready(n: usize) -> Self {
        let (a, b, c) = (digit(n / 100), digit(n / 10 % 10), digit(n % 10));
        match n {
            0..10 => Self {
                bytes: [b'$', c, b'\r', b'\n', 0, 0, 0, 0],
                len: 4,
            },
            10..100 => Self {
                bytes: [b'$', b, c, b'\r', b'\n', 0, 0, 0],
                len: 5,
            },
            _ => Self {
                bytes: [b'$', a, b, c, b'\r', b'\n', 0, 0],
                len: 6,
            },
        }
    }
}

/// The headers of small numbers, as nearly all are: `$0\r\n`, `$1\r\n` ... `$999\r\n`.
pub(super) static HEADERS: [Header; 1_000] = {
    let mut headers = [Header::ready(0); 1_000];
    let mut n = 0;
    while n < headers.len() {
        headers[n] = Header::ready(n);
        n += 1;
    }
    headers
};

/// The longest header: its kind, the digits, the line end.
pub(super) const HEADER_BYTES_MAX: usize = DIGITS_MAX + 3;
/// The longest line: a header and an ID of two numbers.
const LINE_BYTES_MAX: usize = 2 * DIGITS_MAX + 1 + 2 + 5;
