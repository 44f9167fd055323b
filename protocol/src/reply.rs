//! Writes replies, element by element, in the dialect that the client speaks.

mod extent;
mod late;
mod line;
mod marks;
mod pieces;

pub use self::extent::reply_bytes;
pub use self::marks::Mark;
pub use self::pieces::IdPairs;
pub use self::pieces::Pieces;
pub use self::pieces::Room;
pub use self::pieces::Stamp;

use self::late::LateParts;
use self::line::HEADER_BYTES_MAX;
use self::line::HEADERS;
use self::line::Line;
use crate::number;
use crate::request::Request;

/// Which dialect a connection speaks; RESP2 until the client says `HELLO 3`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Version {
    /// Arrays and bulk strings stand in for everything.
    #[default]
    Resp2,
    /// Maps, sets, nulls, booleans, doubles and pushes have types of their own.
    Resp3,
}

impl Version {
    /// What `HELLO` calls it.
    pub const fn number(self) -> i64 {
        match self {
            Self::Resp2 => 2,
            Self::Resp3 => 3,
        }
    }

    /// "Nothing here" where an array was asked for.
    const fn null_array(self) -> &'static [u8] {
        match self {
            Self::Resp2 => b"*-1\r\n",
            Self::Resp3 => b"_\r\n",
        }
    }
}

/// Appends one reply to a connection's output.
///
/// Each method writes one element. An aggregate is its header followed by exactly as many elements
/// as the header promised, so know the count before you write it, or put the header in afterwards
/// with [`Self::insert_array`]. Where the dialects differ the writer picks the form, and handlers
/// never ask which version they speak to.
#[derive(Debug)]
pub struct ReplyWriter<'a> {
    out: &'a mut Vec<u8>,
    version: Version,
    late: Option<LateParts>,
}

impl<'a> ReplyWriter<'a> {
    /// A writer that appends to `out` and leaves what is there alone.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, version: Version) -> Self {
        Self {
            out,
            version,
            late: None,
        }
    }

    /// Speaks another dialect from the next element on, as HELLO does.
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// The dialect of the elements written now.
    pub fn version(&self) -> Version {
        self.version
    }

    /// `count` elements follow.
    #[inline]
    pub fn array(&mut self, count: usize) {
        self.header(b'*', count);
    }

    /// `count` names with their values follow: a map in RESP3, a flat array of twice as many
    /// elements in RESP2.
    pub fn map(&mut self, count: usize) {
        match self.version {
            Version::Resp2 => self.header(b'*', count * 2),
            Version::Resp3 => self.header(b'%', count),
        }
    }

    /// `count` pairs follow, each opened with [`Self::pair`]: a map in RESP3, an array of arrays of
    /// two in RESP2. This is how XREAD lists streams.
    pub fn pairs(&mut self, count: usize) {
        match self.version {
            Version::Resp2 => self.header(b'*', count),
            Version::Resp3 => self.header(b'%', count),
        }
    }

    /// Opens one pair of [`Self::pairs`]; its name and its value follow.
    pub fn pair(&mut self) {
        if self.version == Version::Resp2 {
            self.header(b'*', 2);
        }
    }

    /// As [`Self::array`], where the reference puts the header in afterwards; see [`Self::keep_late`].
    #[inline]
    pub fn late_array(&mut self, count: usize) {
        let mark = self.mark();
        self.array(count);
        self.note_late(mark);
    }

    /// As [`Self::map`], where the reference puts the header in afterwards.
    pub fn late_map(&mut self, count: usize) {
        let mark = self.mark();
        self.map(count);
        self.note_late(mark);
    }

    /// As [`Self::pairs`], where the reference puts the header in afterwards.
    #[inline]
    pub fn late_pairs(&mut self, count: usize) {
        let mark = self.mark();
        self.pairs(count);
        self.note_late(mark);
    }

    /// As [`Self::set`], where the reference puts the header in afterwards.
    pub fn late_set(&mut self, count: usize) {
        let mark = self.mark();
        self.set(count);
        self.note_late(mark);
    }

    /// `count` elements follow whose order means nothing: a set in RESP3, an array in RESP2.
    pub fn set(&mut self, count: usize) {
        match self.version {
            Version::Resp2 => self.header(b'*', count),
            Version::Resp3 => self.header(b'~', count),
        }
    }

    /// `count` elements follow that nobody asked for: a push in RESP3, an array in RESP2.
    pub fn push(&mut self, count: usize) {
        match self.version {
            Version::Resp2 => self.header(b'*', count),
            Version::Resp3 => self.header(b'>', count),
        }
    }

    /// A string of any bytes.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.out.reserve(bytes.len() + HEADER_BYTES_MAX + 2);
        self.header(b'$', bytes.len());
        self.out.extend_from_slice(bytes);
        self.line_end();
    }

    /// A number as a string, as where any other value could stand.
    #[inline]
    pub fn bulk_integer(&mut self, value: i64) {
        let mut line = Line::new();
        line.digits(value.unsigned_abs());
        if value < 0 {
            line.byte(b'-');
        }
        line.bulk_header();
        line.append_to(self.out);
    }

    /// A number.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.unsigned(value),
            Err(_) => {
                let mut line = Line::new();
                line.digits(value.unsigned_abs());
                line.byte(b'-');
                line.byte(b':');
                line.append_to(self.out);
            }
        }
    }

    /// A number that may lie beyond what is signed.
    #[inline]
    pub fn unsigned(&mut self, value: u64) {
        self.number(b':', value);
    }

    /// A stream entry's ID, `ms-seq`, as a string.
    #[inline]
    pub fn id(&mut self, ms: u64, seq: u64) {
        let mut line = Line::new();
        line.digits(seq);
        line.byte(b'-');
        line.digits(ms);
        line.bulk_header();
        line.append_to(self.out);
    }

    /// As [`Self::id`], where others were written by `ids` that are much the same.
    #[inline]
    pub fn id_like(&mut self, ids: &mut IdPairs, ms: u64, seq: u64) {
        let Some((digits, count)) = number::short_digits(seq) else {
            return self.id(ms, seq);
        };
        let (text, len) = ids.before(ms, count);
        self.front(text, len);
        self.front(&digits, count);
        self.line_end();
    }

    /// Appends the first `len` of some bytes. As for headers, a copy of fixed length is the cheaper one.
    #[inline]
    fn front<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        let end = self.out.len() + len;
        self.out.extend_from_slice(bytes);
        self.out.truncate(end);
    }

    /// As [`Self::id`], where the reference puts it in afterwards.
    pub fn late_id(&mut self, ms: u64, seq: u64) {
        let mark = self.mark();
        self.id(ms, seq);
        self.note_late(mark);
    }

    /// A floating-point number: a double in RESP3, a string in RESP2.
    pub fn double(&mut self, value: f64) {
        let mut text = Vec::new();
        number::append_f64(&mut text, value);
        match self.version {
            Version::Resp2 => self.bulk(&text),
            Version::Resp3 => self.line(b',', &text),
        }
    }

    /// Yes or no: a boolean in RESP3, 1 or 0 in RESP2.
    pub fn boolean(&mut self, value: bool) {
        self.raw(match (self.version, value) {
            (Version::Resp2, true) => b":1\r\n",
            (Version::Resp2, false) => b":0\r\n",
            (Version::Resp3, true) => b"#t\r\n",
            (Version::Resp3, false) => b"#f\r\n",
        });
    }

    /// Text for people: marked as such in RESP3, an ordinary string in RESP2.
    pub fn verbatim(&mut self, text: &[u8]) {
        match self.version {
            Version::Resp2 => self.bulk(text),
            Version::Resp3 => {
                self.header(b'=', text.len() + VERBATIM_FORMAT.len());
                self.raw(VERBATIM_FORMAT);
                self.raw(text);
                self.line_end();
            }
        }
    }

    /// "Nothing here" where a string was asked for.
    #[inline]
    pub fn null(&mut self) {
        self.raw(match self.version {
            Version::Resp2 => b"$-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// "Nothing here" where an array was asked for, as a read that timed out says.
    #[inline]
    pub fn null_array(&mut self) {
        self.raw(self.version.null_array());
    }

    /// A short status without CR or LF.
    pub fn simple(&mut self, text: &str) {
        debug_assert!(!text.contains(['\r', '\n']), "a status is one line");
        self.line(b'+', text.as_bytes());
    }

    /// The status `OK`.
    #[inline]
    pub fn ok(&mut self) {
        self.raw(b"+OK\r\n");
    }

    /// An error, its code first: `NOGROUP No such key 's'`. Line ends at its end are left out, and
    /// within it CR and LF turn into spaces, so that a client's own bytes can be quoted.
    pub fn error(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let len = text.iter().rposition(|byte| !is_line_end(byte));
        let line = &text[..len.map_or(0, |last| last + 1)];
        self.out.push(b'-');
        let bytes = line.iter().map(|byte| match byte {
            b'\r' | b'\n' => b' ',
            byte => *byte,
        });
        self.out.extend(bytes);
        self.line_end();
    }

    /// Appends many short pieces; room for `growth` bytes is made at once.
    #[inline]
    pub fn pieces(&mut self, growth: usize) -> Pieces<'_> {
        Pieces::new(self.out, self.version, growth)
    }

    /// Bytes that are replies already.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    #[inline]
    fn header(&mut self, kind: u8, count: usize) {
        self.number(kind, count as u64);
    }

    /// Writes `kind`, a number and a line end.
    #[inline]
    fn number(&mut self, kind: u8, value: u64) {
        let ready = usize::try_from(value).ok().and_then(|n| HEADERS.get(n));
        let Some(header) = ready else {
            let mut line = Line::new();
            line.digits(value);
            line.byte(kind);
            return line.append_to(self.out);
        };
        // A copy of fixed length is one store, and much cheaper than one of just the right length.
        let end = self.out.len() + usize::from(header.len);
        let mut bytes = header.bytes;
        bytes[0] = kind;
        self.out.extend_from_slice(&bytes);
        self.out.truncate(end);
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.out.push(kind);
        self.out.extend_from_slice(text);
        self.line_end();
    }

    #[inline]
    fn line_end(&mut self) {
        self.out.extend_from_slice(b"\r\n");
    }
}

impl Request<'_> {
    /// Appends the request as a client sends it: an array of strings.
    pub fn write_to(self, out: &mut Vec<u8>) {
        let mut writer = ReplyWriter::new(out, Version::Resp2);
        writer.array(self.len());
        for arg in self {
            writer.bulk(arg);
        }
    }
}

/// What the text of a verbatim string starts with: plain text.
const VERBATIM_FORMAT: &[u8] = b"txt:";

#[cfg(test)]
mod tests;
