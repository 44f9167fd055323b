//! Values of a script to replies.

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
    pub(super) ok: LuaString,
    pub(super) double: LuaString,
    pub(super) big_number: LuaString,
    pub(super) verbatim_string: LuaString,
    pub(super) format: LuaString,
    pub(super) string: LuaString,
    pub(super) map: LuaString,
    pub(super) set: LuaString,
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
struct Open {
    kind: Kind,
    table: Value,
    /// The key that was written last, of a map or a set.
    key: Value,
    /// What is to be written next: the value of that key, of a map.
    value: Value,
    len: usize,
    mark: Mark,
    /// How much the reference has on its stack when it begins with this table.
    used: usize,
}

/// What a table is written as.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Array,
    Map,
    Set,
}

impl Open {
    /// Has its values kept by Lua.
    fn spill(&mut self, spilled: &Table, depth: usize) -> Result<()> {
        for (at, value) in [&mut self.table, &mut self.key, &mut self.value]
            .into_iter()
            .enumerate()
        {
            spilled.raw_set(depth * 3 + at, std::mem::take(value))?;
        }
        Ok(())
    }

    /// Takes its values back if Lua has them.
    fn restore(&mut self, spilled: &Table, depth: usize) -> Result<()> {
        if self.table.is_nil() {
            for (at, value) in [&mut self.table, &mut self.key, &mut self.value]
                .into_iter()
                .enumerate()
            {
                *value = spilled.raw_get(depth * 3 + at)?;
            }
        }
        Ok(())
    }

    /// How much the reference has on its stack when it writes the next value: the table of a map or a set
    /// and the key stay there beside it.
    fn used_by_next(&self) -> usize {
        self.used
            + match self.kind {
                Kind::Array => 1,
                Kind::Map if self.value.is_nil() => 3,
                Kind::Map => 4,
                Kind::Set => 3,
            }
    }
}

/// Writes what a script returned.
pub(super) struct Writer<'a, 'r> {
    pub(super) lua: &'a Lua,
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
        // Those that are not held.
        let mut spilled = None;
        let (mut value, mut used) = (value, USED_AT_FIRST);
        loop {
            if let Some(opened) = self.write_one(value, used)? {
                let depth = open.len();
                if let Some(top) = open.last_mut().filter(|_| depth > HELD_MAX) {
                    let spilled = match &mut spilled {
                        Some(spilled) => spilled,
                        None => spilled.insert(self.lua.create_table()?),
                    };
                    top.spill(spilled, depth)?;
                }
                open.push(opened);
            }
            (value, used) = loop {
                let depth = open.len();
                let Some(top) = open.last_mut() else {
                    return Ok(());
                };
                if let Some(spilled) = &spilled {
                    top.restore(spilled, depth)?;
                }
                match self.next_of(top)? {
                    Some(value) => break (value, top.used_by_next()),
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
    fn write_one(&mut self, value: Value, used: usize) -> Result<Option<Open>> {
        if used > STACK_MAX {
            self.error(&ErrorReply::new("ERR reached lua stack limit"));
            return Ok(None);
        }
        match value {
            Value::String(text) => self.reply.bulk(&text.as_bytes()),
            Value::Integer(number) => self.reply.integer(number),
            Value::Number(number) => self.number(number),
            Value::Boolean(value) => self.boolean(value),
            Value::Table(table) => return self.write_table(table, used),
            _ => self.reply.null(),
        }
        Ok(None)
    }

    /// Writes a number, of which only what is before the point is told.
    pub(super) fn number(&mut self, number: f64) {
        self.reply.integer(numbers::truncated(number));
    }

    /// Writes a boolean: without booleans of its own a reply is 1 or nothing.
    pub(super) fn boolean(&mut self, value: bool) {
        match value {
            _ if self.has_booleans => self.reply.boolean(value),
            true => self.reply.integer(1),
            false => self.reply.null(),
        }
    }

    fn write_table(&mut self, table: Table, used: usize) -> Result<Option<Open>> {
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
        let mut open = Open {
            kind: Kind::Array,
            table: Value::Nil,
            key: Value::Nil,
            value: Value::Nil,
            len: 0,
            mark: self.reply.mark(),
            used,
        };
        for (name, kind) in [(&fields.map, Kind::Map), (&fields.set, Kind::Set)] {
            if let found @ Value::Table(_) = table.raw_get(name)? {
                (open.kind, open.table) = (kind, found);
                return Ok(Some(open));
            }
        }
        open.table = Value::Table(table);
        Ok(Some(open))
    }

    /// The next value of a table; `None` at its end.
    fn next_of(&self, open: &mut Open) -> Result<Option<Value>> {
        let Value::Table(table) = &open.table else {
            unreachable!("only tables are open, and the last one is held");
        };
        if open.kind == Kind::Array {
            let value: Value = table.raw_get(open.len + 1)?;
            open.len += usize::from(!value.is_nil());
            return Ok(Some(value).filter(|value| !value.is_nil()));
        }
        if !open.value.is_nil() {
            return Ok(Some(std::mem::take(&mut open.value)));
        }
        let (found, of_it): (Value, Value) =
            self.next.call((table, std::mem::take(&mut open.key)))?;
        if found.is_nil() {
            return Ok(None);
        }
        open.len += 1;
        if open.kind == Kind::Map {
            open.value = of_it;
        }
        open.key = found.clone();
        Ok(Some(found))
    }

    fn close(&mut self, open: &Open) {
        match open.kind {
            Kind::Array => self.reply.insert_array(open.mark, open.len),
            Kind::Map => self.reply.insert_map(open.mark, open.len),
            Kind::Set => self.reply.insert_set(open.mark, open.len),
        }
    }

    /// Writes an error, and tells of it.
    pub(super) fn error(&mut self, error: &ErrorReply) {
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

/// How much the reference has on its stack with what a script returned.
const USED_AT_FIRST: usize = 2;
/// How many values the reference's Lua has room for on its stack, less the four that it wants free for each
/// value that it writes.
const STACK_MAX: usize = 8_000 - 4;
/// How many of the tables that are half written are held at once. Only so many values may be held outside of
/// Lua as its stack has room for.
const HELD_MAX: usize = 64;
