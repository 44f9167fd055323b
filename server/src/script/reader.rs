//! Replies of commands to values of a script.

use mlua::Lua;
use mlua::LuaString;
use mlua::Result;
use mlua::Table;
use mlua::Value;

use super::values::Fields;
use super::values::counted;

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
            b'|' => {
                // Scripts see nothing of what is told about a value.
                self.pairs(count(line))?;
                return self.read();
            }
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
