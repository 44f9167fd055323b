//! JSON to values of a script.

use mlua::Error;
use mlua::Lua;
use mlua::Table;
use mlua::Value;

use super::Options;
use super::number::c_number;

/// Why a text is not JSON.
pub(super) enum Failure {
    /// In the words of the reference.
    Text(String),
    /// Lua has no memory left.
    Lua(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Lua(error)
    }
}

/// A piece of the text.
#[derive(Debug)]
enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    String(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    /// What is wrong with it.
    Wrong(&'static str),
}

impl Token {
    /// What an error calls it.
    fn name(&self) -> &'static str {
        match self {
            Self::ObjectBegin => "T_OBJ_BEGIN",
            Self::ObjectEnd => "T_OBJ_END",
            Self::ArrayBegin => "T_ARR_BEGIN",
            Self::ArrayEnd => "T_ARR_END",
            Self::String(_) => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Boolean(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
            Self::Colon => "T_COLON",
            Self::Comma => "T_COMMA",
            Self::End => "T_END",
            Self::Wrong(what) => what,
        }
    }
}

/// A table that is half read.
enum Open {
    Array { table: Table, len: i64 },
    Object { table: Table, key: Vec<u8> },
}

/// The text, how far it was read, and where the last token began.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    token_at: usize,
    allows_invalid: bool,
}

/// Reads `text`, which must be one value.
pub(super) fn decode(lua: &Lua, text: &[u8], options: &Options) -> Result<Value, Failure> {
    if text.len() >= 2 && text[..2].contains(&0) {
        return Err(Failure::Text(
            "JSON parser does not support UTF-16 or UTF-32".into(),
        ));
    }
    let mut parser = Parser {
        text,
        at: 0,
        token_at: 0,
        allows_invalid: options.decode_invalid,
    };
    let value = parser.value(lua, options.decode_depth_max.min(DEPTH_MAX))?;
    match parser.next() {
        Token::End => Ok(value),
        token => Err(parser.unexpected("the end", &token)),
    }
}

impl Parser<'_> {
    fn value(&mut self, lua: &Lua, depth_max: i64) -> Result<Value, Failure> {
        let mut open: Vec<Open> = Vec::new();
        let mut token = self.next();
        loop {
            let value = match token {
                Token::String(text) => Value::String(lua.create_string(text)?),
                Token::Number(number) => Value::Number(number),
                Token::Boolean(value) => Value::Boolean(value),
                Token::Null => Value::NULL,
                Token::ObjectBegin => {
                    self.check_depth(open.len() + 1, depth_max)?;
                    let table = lua.create_table()?;
                    match self.next() {
                        Token::ObjectEnd => Value::Table(table),
                        first => {
                            let key = self.key(first)?;
                            open.push(Open::Object { table, key });
                            token = self.next();
                            continue;
                        }
                    }
                }
                Token::ArrayBegin => {
                    self.check_depth(open.len() + 1, depth_max)?;
                    let table = lua.create_table()?;
                    match self.next() {
                        Token::ArrayEnd => Value::Table(table),
                        first => {
                            open.push(Open::Array { table, len: 0 });
                            token = first;
                            continue;
                        }
                    }
                }
                other => return Err(self.unexpected("value", &other)),
            };
            match self.close(value, &mut open)? {
                Ok(value) => return Ok(value),
                Err(next) => token = next,
            }
        }
    }

    /// Puts a value into the innermost open table, and that into the next one if it ends there. Gives
    /// the token with which the next value begins, or the outermost value once it is complete.
    fn close(
        &mut self,
        value: Value,
        open: &mut Vec<Open>,
    ) -> Result<Result<Value, Token>, Failure> {
        let mut value = value;
        loop {
            let Some(top) = open.last_mut() else {
                return Ok(Ok(value));
            };
            let table = match top {
                Open::Array { table, len } => {
                    *len += 1;
                    table.raw_set(*len, value)?;
                    match self.next() {
                        Token::ArrayEnd => table.clone(),
                        Token::Comma => return Ok(Err(self.next())),
                        token => return Err(self.unexpected("comma or array end", &token)),
                    }
                }
                Open::Object { table, key } => {
                    table.raw_set(table.weak_lua().upgrade().create_string(&*key)?, value)?;
                    match self.next() {
                        Token::ObjectEnd => table.clone(),
                        Token::Comma => {
                            let token = self.next();
                            *key = self.key(token)?;
                            return Ok(Err(self.next()));
                        }
                        token => return Err(self.unexpected("comma or object end", &token)),
                    }
                }
            };
            open.pop();
            value = Value::Table(table);
        }
    }

    /// The key of which `token` consists, with the colon behind it.
    fn key(&mut self, token: Token) -> Result<Vec<u8>, Failure> {
        let Token::String(key) = token else {
            return Err(self.unexpected("object key string", &token));
        };
        match self.next() {
            Token::Colon => Ok(key),
            token => Err(self.unexpected("colon", &token)),
        }
    }

    fn check_depth(&self, depth: usize, depth_max: i64) -> Result<(), Failure> {
        if i64::try_from(depth).unwrap_or(i64::MAX) <= depth_max {
            return Ok(());
        }
        let at = self.at;
        Err(Failure::Text(format!(
            "Found too many nested data structures ({depth}) at character {at}"
        )))
    }

    fn unexpected(&self, expected: &str, found: &Token) -> Failure {
        let (found, at) = (found.name(), self.token_at + 1);
        Failure::Text(format!(
            "Expected {expected} but found {found} at character {at}"
        ))
    }

    /// The byte at `index`; the text ends with a zero byte.
    fn byte(&self, index: usize) -> u8 {
        self.text.get(index).copied().unwrap_or(0)
    }

    fn starts_with(&self, word: &[u8]) -> bool {
        self.text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word))
    }

    fn next(&mut self) -> Token {
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.token_at = self.at;
        let single = match self.byte(self.at) {
            0 => return Token::End,
            b'"' => return self.string(),
            b'-' | b'0'..=b'9' => {
                if !self.allows_invalid && self.is_invalid_number() {
                    return Token::Wrong("invalid number");
                }
                return self.number();
            }
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'f' | b'i' | b'I' | b'n' | b'N' | b't' | b'+' => return self.word(),
            _ => return Token::Wrong("invalid token"),
        };
        self.at += 1;
        single
    }

    fn word(&mut self) -> Token {
        let words: [(&[u8], Token); 3] = [
            (b"true", Token::Boolean(true)),
            (b"false", Token::Boolean(false)),
            (b"null", Token::Null),
        ];
        for (word, token) in words {
            if self.starts_with(word) {
                self.at += word.len();
                return token;
            }
        }
        if self.allows_invalid && self.is_invalid_number() {
            return self.number();
        }
        Token::Wrong("invalid token")
    }

    /// Whether C reads what stands here as a number that JSON does not have.
    fn is_invalid_number(&self) -> bool {
        let mut at = self.at;
        match self.byte(at) {
            b'+' => return true,
            b'-' => at += 1,
            _ => {}
        }
        match self.byte(at) {
            b'0' => matches!(self.byte(at + 1), b'x' | b'X' | b'0'..=b'9'),
            byte if byte <= b'9' => false,
            _ => {
                let start: Vec<u8> = (at..at + 3).map(|index| self.byte(index)).collect();
                start.eq_ignore_ascii_case(b"inf") || start.eq_ignore_ascii_case(b"nan")
            }
        }
    }

    fn number(&mut self) -> Token {
        match c_number(&self.text[self.at..]) {
            Some((value, len)) => {
                self.at += len;
                Token::Number(value)
            }
            None => Token::Wrong("invalid number"),
        }
    }

    fn string(&mut self) -> Token {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let byte = self.byte(self.at);
            match byte {
                b'"' => break,
                0 => return self.wrong("unexpected end of string"),
                b'\\' => {
                    let escaped = match self.byte(self.at + 1) {
                        byte @ (b'"' | b'\\' | b'/') => byte,
                        b'b' => 8,
                        b't' => b'\t',
                        b'n' => b'\n',
                        b'f' => 12,
                        b'r' => b'\r',
                        b'u' => {
                            if self.unicode(&mut text).is_none() {
                                return self.wrong("invalid unicode escape code");
                            }
                            continue;
                        }
                        _ => return self.wrong("invalid escape code"),
                    };
                    text.push(escaped);
                    self.at += 2;
                }
                byte => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Token::String(text)
    }

    fn wrong(&mut self, what: &'static str) -> Token {
        self.token_at = self.at;
        Token::Wrong(what)
    }

    /// Reads `\uXXXX`, or two of them that are one character.
    fn unicode(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let mut point = self.hex4(self.at + 2)?;
        let mut len = 6;
        if point & 0xF800 == 0xD800 {
            let is_pair = point & 0x400 == 0
                && self.byte(self.at + 6) == b'\\'
                && self.byte(self.at + 7) == b'u';
            let low = self.hex4(self.at + 8).filter(|_| is_pair)?;
            if low & 0xFC00 != 0xDC00 {
                return None;
            }
            point = ((point & 0x3FF) << 10 | low & 0x3FF) + 0x1_0000;
            len = 12;
        }
        let char = char::from_u32(point)?;
        text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += len;
        Some(())
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        (at..at + 4).try_fold(0, |value, index| {
            Some(value << 4 | char::from(self.byte(index)).to_digit(16)?)
        })
    }
}

/// However deep a script allows tables to be, the reference's stack ends near here.
const DEPTH_MAX: i64 = 2_600;
