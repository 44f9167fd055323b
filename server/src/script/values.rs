//! Values of a script to replies, and replies of commands to values of a script.

use mlua::Function;
use mlua::Lua;
use mlua::LuaString;
use mlua::Result;
use mlua::Table;
use mlua::Value;
use tailrace_protocol::Mark;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use super::numbers;
use super::raised::ErrorReply;

/// The names of the fields that say what kind of reply a table is, made once.
pub(super) struct Fields {
    pub(super) err: LuaString,
    ok: LuaString,
    double: LuaString,
    big_number: LuaString,
    verbatim_string: LuaString,
    format: LuaString,
    string: LuaString,
    map: LuaString,
    set: LuaString,
    pub(super) ignore: LuaString,
    pub(super) source: LuaString,
    pub(super) line: LuaString,
}

impl Fields {
    /// The names as strings of `lua`.
    pub(super) fn new(lua: &Lua) -> Result<Self> {
        Ok(Self {
            err: lua.create_string("err")?,
            ok: lua.create_string("ok")?,
            double: lua.create_string("double")?,
            big_number: lua.create_string("big_number")?,
            verbatim_string: lua.create_string("verbatim_string")?,
            format: lua.create_string("format")?,
            string: lua.create_string("string")?,
            map: lua.create_string("map")?,
            set: lua.create_string("set")?,
            ignore: lua.create_string("ignore_error_stats_update")?,
            source: lua.create_string("source")?,
            line: lua.create_string("line")?,
        })
    }

    /// The table by which scripts know an error.
    pub(super) fn error_table(&self, lua: &Lua, error: &ErrorReply) -> Result<Table> {
        let table = lua.create_table()?;
        table.raw_set(&self.err, lua.create_string(&error.text)?)?;
        if error.is_counted {
            table.raw_set(&self.ignore, true)?;
        }
        Ok(table)
    }

    /// The error that a table stands for, if it is one.
    fn error_of(&self, table: &Table) -> Result<Option<ErrorReply>> {
        let Value::String(text) = table.raw_get(&self.err)? else {
            return Ok(None);
        };
        Ok(Some(ErrorReply {
            text: crate::args::text(&text.as_bytes()).to_vec(),
            is_counted: table.raw_get::<Value>(&self.ignore)? == Value::Boolean(true),
        }))
    }
}

/// A table that is half written. A table may hold itself, so they are kept here and not on the
/// stack of the thread.
enum Open {
    Array {
        table: Table,
        len: usize,
        mark: Mark,
    },
    Pairs {
        table: Table,
        key: Value,
        value: Option<Value>,
        len: usize,
        mark: Mark,
        is_map: bool,
    },
}

/// Writes what a script returned.
pub(super) struct Writer<'a, 'r> {
    /// Where the replies go.
    pub(super) reply: &'a mut ReplyWriter<'r>,
    /// Whether booleans are replies of their own, as in RESP3.
    pub(super) has_booleans: bool,
    pub(super) fields: &'a Fields,
    /// Walks through tables.
    pub(super) next: &'a Function,
    /// Told of every error in it.
    pub(super) on_error: &'a mut dyn FnMut(&ErrorReply),
}

impl Writer<'_, '_> {
    /// Writes a value, with all that it holds.
    pub(super) fn write(&mut self, value: Value) -> Result<()> {
        let mut open: Vec<Open> = Vec::new();
        let mut value = value;
        loop {
            if let Some(opened) = self.write_one(value, open.len())? {
                open.push(opened);
            }
            value = loop {
                let Some(top) = open.last_mut() else {
                    return Ok(());
                };
                match self.next_of(top)? {
                    Some(value) => break value,
                    None => {
                        if let Some(done) = open.pop() {
                            self.close(&done);
                        }
                    }
                }
            };
        }
    }

    /// Writes a value that holds no others, or opens one that does.
    fn write_one(&mut self, value: Value, depth: usize) -> Result<Option<Open>> {
        match value {
            Value::String(text) => self.reply.bulk(&text.as_bytes()),
            Value::Integer(number) => self.reply.integer(number),
            Value::Number(number) => self.reply.integer(numbers::truncated(number)),
            Value::Boolean(value) if self.has_booleans => self.reply.boolean(value),
            Value::Boolean(true) => self.reply.integer(1),
            Value::Table(_) if depth > DEPTH_MAX => {
                self.error(&ErrorReply::new("ERR reached lua stack limit"));
            }
            Value::Table(table) => return self.write_table(table),
            _ if depth > DEPTH_MAX => self.error(&ErrorReply::new("ERR reached lua stack limit")),
            _ => self.reply.null(),
        }
        Ok(None)
    }

    fn write_table(&mut self, table: Table) -> Result<Option<Open>> {
        let fields = self.fields;
        if let Some(error) = fields.error_of(&table)? {
            self.error(&error);
            return Ok(None);
        }
        if let Value::String(text) = table.raw_get(&fields.ok)? {
            let text = text.as_bytes();
            self.line(b'+', crate::args::text(&text));
            return Ok(None);
        }
        if let Some(number) = numbers::of(&table.raw_get(&fields.double)?) {
            self.reply.double(number);
            return Ok(None);
        }
        if let Value::String(digits) = table.raw_get(&fields.big_number)? {
            let digits = digits.as_bytes();
            self.big_number(crate::args::text(&digits));
            return Ok(None);
        }
        if let Value::Table(parts) = table.raw_get(&fields.verbatim_string)?
            && let Value::String(format) = parts.raw_get(&fields.format)?
            && let Value::String(text) = parts.raw_get(&fields.string)?
        {
            self.verbatim(&format.as_bytes(), &text.as_bytes());
            return Ok(None);
        }
        let mark = self.reply.mark();
        for (name, is_map) in [(&fields.map, true), (&fields.set, false)] {
            if let Value::Table(table) = table.raw_get(name)? {
                let (key, value, len) = (Value::Nil, None, 0);
                let open = Open::Pairs {
                    table,
                    key,
                    value,
                    len,
                    mark,
                    is_map,
                };
                return Ok(Some(open));
            }
        }
        Ok(Some(Open::Array {
            table,
            len: 0,
            mark,
        }))
    }

    /// The next value of a table; `None` at its end.
    fn next_of(&self, open: &mut Open) -> Result<Option<Value>> {
        match open {
            Open::Array { table, len, .. } => {
                let value: Value = table.raw_get(*len + 1)?;
                if value.is_nil() {
                    return Ok(None);
                }
                *len += 1;
                Ok(Some(value))
            }
            Open::Pairs {
                table,
                key,
                value,
                len,
                is_map,
                ..
            } => {
                if let Some(value) = value.take() {
                    return Ok(Some(value));
                }
                let (found, of_it): (Value, Value) =
                    self.next.call((&*table, std::mem::take(key)))?;
                if found.is_nil() {
                    return Ok(None);
                }
                *len += 1;
                *value = is_map.then_some(of_it);
                *key = found.clone();
                Ok(Some(found))
            }
        }
    }

    fn close(&mut self, open: &Open) {
        match *open {
            Open::Array { len, mark, .. } => self.reply.insert_array(mark, len),
            Open::Pairs {
                len,
                mark,
                is_map: true,
                ..
            } => self.reply.insert_map(mark, len),
            Open::Pairs {
                len,
                mark,
                is_map: false,
                ..
            } => self.reply.insert_set(mark, len),
        }
    }

    fn error(&mut self, error: &ErrorReply) {
        (self.on_error)(error);
        self.reply.error(&error.text);
    }

    /// One line, in which line ends turn into blanks.
    fn line(&mut self, kind: u8, text: &[u8]) {
        self.reply.raw(&[kind]);
        let line: Vec<u8> = text.iter().map(|&byte| on_one_line(byte)).collect();
        self.reply.raw(&line);
        self.reply.raw(b"\r\n");
    }

    fn big_number(&mut self, digits: &[u8]) {
        match self.reply.version() {
            Version::Resp3 => self.line(b'(', digits),
            Version::Resp2 => {
                let digits: Vec<u8> = digits.iter().map(|&byte| on_one_line(byte)).collect();
                self.reply.bulk(&digits);
            }
        }
    }

    fn verbatim(&mut self, format: &[u8], text: &[u8]) {
        if self.reply.version() == Version::Resp2 {
            return self.reply.bulk(text);
        }
        let mut name = *b"   ";
        for (to, from) in name.iter_mut().zip(crate::args::text(format)) {
            *to = *from;
        }
        self.reply
            .raw(format!("={}\r\n", text.len() + 4).as_bytes());
        self.reply.raw(&name);
        self.reply.raw(b":");
        self.reply.raw(text);
        self.reply.raw(b"\r\n");
    }
}

fn on_one_line(byte: u8) -> u8 {
    match byte {
        b'\r' | b'\n' => b' ',
        byte => byte,
    }
}

/// Reads a reply of a command, which was written by this server and is whole.
pub(super) struct Reader<'a> {
    pub(super) lua: &'a Lua,
    pub(super) fields: &'a Fields,
    /// What is left.
    pub(super) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The reply as a value.
    pub(super) fn read(&mut self) -> Result<Value> {
        let (lua, fields) = (self.lua, self.fields);
        let kind = self.rest[0];
        let line = self.line();
        let table = match kind {
            b':' => return Ok(Value::Number(as_number(line))),
            b'$' | b'*' if line == b"-1" => return Ok(Value::Boolean(false)),
            b'_' => return Ok(Value::Nil),
            b'#' => return Ok(Value::Boolean(line == b"t")),
            b'$' => {
                let text = self.take(count(line));
                return Ok(Value::String(lua.create_string(text)?));
            }
            b'*' | b'>' => return self.array(count(line)),
            b'-' => return Ok(Value::Table(fields.error_table(lua, &counted(line))?)),
            b'+' => single(lua, &fields.ok, lua.create_string(line)?)?,
            b',' => single(lua, &fields.double, as_number(line))?,
            b'(' => single(lua, &fields.big_number, lua.create_string(line)?)?,
            b'=' => {
                let text = self.take(count(line));
                let parts = lua.create_table()?;
                parts.raw_set(&fields.string, lua.create_string(&text[4..])?)?;
                parts.raw_set(&fields.format, lua.create_string(&text[..3])?)?;
                single(lua, &fields.verbatim_string, parts)?
            }
            b'%' => single(lua, &fields.map, self.pairs(count(line))?)?,
            b'~' => single(lua, &fields.set, self.members(count(line))?)?,
            kind => unreachable!("there is no reply that begins with {kind}"),
        };
        Ok(Value::Table(table))
    }

    fn array(&mut self, len: usize) -> Result<Value> {
        let array = self.lua.create_table_with_capacity(len, 0)?;
        for index in 1..=len {
            let value = self.read()?;
            if !value.is_nil() {
                array.raw_set(index, value)?;
            }
        }
        Ok(Value::Table(array))
    }

    fn pairs(&mut self, len: usize) -> Result<Table> {
        let map = self.lua.create_table_with_capacity(0, len)?;
        for _ in 0..len {
            let (key, value) = (self.read()?, self.read()?);
            map.raw_set(key, value)?;
        }
        Ok(map)
    }

    fn members(&mut self, len: usize) -> Result<Table> {
        let set = self.lua.create_table_with_capacity(0, len)?;
        for _ in 0..len {
            set.raw_set(self.read()?, true)?;
        }
        Ok(set)
    }

    /// The rest of the line behind its first byte.
    fn line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| byte == b'\r');
        let end = end.expect("a reply is whole");
        let line = &self.rest[1..end];
        self.rest = &self.rest[end + 2..];
        line
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (text, rest) = self.rest.split_at(len);
        self.rest = &rest[2..];
        text
    }
}

/// The error of a command; it is in the statistics already.
pub(super) fn counted(line: &[u8]) -> ErrorReply {
    ErrorReply {
        text: with_code(line),
        is_counted: true,
    }
}

/// An error that has a code in front: `ERR` if it is a single word.
pub(super) fn with_code(line: &[u8]) -> Vec<u8> {
    if line.contains(&b' ') {
        return line.to_vec();
    }
    [b"ERR ", line].concat()
}

fn single(lua: &Lua, name: &LuaString, value: impl mlua::IntoLua) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set(name, value)?;
    Ok(table)
}

fn count(line: &[u8]) -> usize {
    let text = str::from_utf8(line).unwrap_or_default();
    text.parse().expect("a length is a number")
}

fn as_number(line: &[u8]) -> f64 {
    let text = str::from_utf8(line).unwrap_or_default();
    text.parse().expect("a number is one")
}

/// How deep tables are written. The reference goes on until Lua's stack is used up, which holds 8,000
/// values.
const DEPTH_MAX: usize = 7_500;
