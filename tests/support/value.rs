//! Parses replies into trees. Only tests ever need one.

use std::fmt;

use crate::render;

/// One reply, or one element of a reply, with everything that its bytes said.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `+text`
    Simple(Vec<u8>),
    /// `-text`
    Error(Vec<u8>),
    /// `:number`
    Integer(i64),
    /// `,number`, as it was spelt.
    Double(String),
    /// `(number`, as it was spelt; or what a colon stood before and is no number of 64 bits with a sign, with the colon.
    BigNumber(String),
    /// `#t` or `#f`
    Boolean(bool),
    /// `$len` and bytes
    Bulk(Vec<u8>),
    /// `=len`, a three-letter format, and bytes
    Verbatim(String, Vec<u8>),
    /// `$-1`
    Nil,
    /// `*-1`
    NilArray,
    /// `_`
    Null,
    /// `*len`
    Array(Vec<Self>),
    /// `~len`
    Set(Vec<Self>),
    /// `>len`
    Push(Vec<Self>),
    /// `%len`; keys and values alternate.
    Map(Vec<Self>),
    /// `|len`: keys and values alternate, and what they belong to.
    Attribute(Vec<Self>, Box<Self>),
}

impl Value {
    /// Parses the reply at the front of `input`, and says how many bytes it took; `None` if it is not all there.
    ///
    /// # Panics
    ///
    /// If the bytes are no reply: the test has failed.
    pub fn parse(input: &[u8]) -> Option<(Self, usize)> {
        let mut cursor = Cursor { input, at: 0 };
        let value = cursor.value()?;
        Some((value, cursor.at))
    }

    /// The text of a bulk, verbatim, simple string or error; empty for anything else.
    pub fn text(&self) -> &[u8] {
        match self {
            Self::Simple(text) | Self::Error(text) | Self::Bulk(text) | Self::Verbatim(_, text) => {
                text
            }
            _ => &[],
        }
    }
}

/// As transcripts show it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::reply(self))
    }
}

struct Cursor<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn value(&mut self) -> Option<Value> {
        let line = self.line()?;
        let (&tag, rest) = line.split_first().expect("a reply line has a tag");
        Some(match tag {
            b'+' => Value::Simple(rest.to_vec()),
            b'-' => Value::Error(rest.to_vec()),
            b':' => match utf8(rest).parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::BigNumber(utf8(line)),
            },
            b',' => Value::Double(utf8(rest)),
            b'(' => Value::BigNumber(utf8(rest)),
            b'#' => Value::Boolean(rest == b"t"),
            b'_' => Value::Null,
            b'$' if rest == b"-1" => Value::Nil,
            b'*' if rest == b"-1" => Value::NilArray,
            b'$' => Value::Bulk(self.bytes(length(rest))?.to_vec()),
            b'=' => {
                let text = self.bytes(length(rest))?;
                let (format, text) = text.split_at(4);
                Value::Verbatim(utf8(&format[..3]), text.to_vec())
            }
            b'*' => Value::Array(self.values(length(rest))?),
            b'~' => Value::Set(self.values(length(rest))?),
            b'>' => Value::Push(self.values(length(rest))?),
            b'%' => Value::Map(self.values(length(rest) * 2)?),
            b'|' => Value::Attribute(self.values(length(rest) * 2)?, Box::new(self.value()?)),
            _ => panic!("no reply starts with {:?}", line.escape_ascii().to_string()),
        })
    }

    fn values(&mut self, count: usize) -> Option<Vec<Value>> {
        (0..count).map(|_| self.value()).collect()
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = &self.input[self.at..];
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        self.at += end + 2;
        Some(&rest[..end])
    }

    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let rest = &self.input[self.at..];
        if rest.len() < len + 2 {
            return None;
        }
        assert_eq!(&rest[len..len + 2], b"\r\n", "a bulk ends in CR LF");
        self.at += len + 2;
        Some(&rest[..len])
    }
}

fn utf8(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn length(text: &[u8]) -> usize {
    utf8(text)
        .parse()
        .expect("a length is a number and not negative")
}
