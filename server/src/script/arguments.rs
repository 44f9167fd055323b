//! The arguments of a library function, taken as Lua's own libraries take theirs: a number where a
//! string is asked for and the other way round, and the same words for what does not fit.

use mlua::Error;
use mlua::Lua;
use mlua::LuaString;
use mlua::MultiValue;
use mlua::Result;
use mlua::Value;

use super::numbers;
use super::raised;

/// What a library function was called with.
pub(super) struct Arguments<'a> {
    lua: &'a Lua,
    name: &'static str,
    values: &'a MultiValue,
}

impl<'a> Arguments<'a> {
    /// The arguments of the function `name`.
    pub(super) fn new(lua: &'a Lua, name: &'static str, values: &'a MultiValue) -> Self {
        Self { lua, name, values }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The argument at `index`, which counts from 1.
    pub(super) fn get(&self, index: usize) -> Option<&'a Value> {
        self.values.get(index - 1)
    }

    /// A number.
    pub(super) fn number(&self, index: usize) -> Result<f64> {
        let value = self.get(index).cloned().unwrap_or_default();
        match self.lua.coerce_number(value)? {
            Some(number) => Ok(number),
            None => Err(self.expected(index, "number")),
        }
    }

    /// A number, cut to an integer.
    pub(super) fn integer(&self, index: usize) -> Result<i64> {
        self.number(index).map(numbers::truncated)
    }

    /// A string.
    pub(super) fn string(&self, index: usize) -> Result<LuaString> {
        let value = self.get(index).cloned().unwrap_or_default();
        match self.lua.coerce_string(value)? {
            Some(string) => Ok(string),
            None => Err(self.expected(index, "string")),
        }
    }

    /// The error for an argument of another type.
    pub(super) fn expected(&self, index: usize, wanted: &str) -> Error {
        let found = self.get(index).map_or("no value", type_name);
        self.bad(index, &format!("{wanted} expected, got {found}"))
    }

    /// The error for an argument that does not fit.
    pub(super) fn bad(&self, index: usize, why: &str) -> Error {
        raised::bad_argument(self.lua, index, self.name, why)
    }

    /// An error of the function, with the place of its call in front.
    pub(super) fn fail(&self, text: impl AsRef<[u8]>) -> Error {
        raised::at_caller(self.lua, text)
    }
}

/// What Lua calls the type of a value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Boolean(_) => "boolean",
        Value::Integer(_) | Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Table(_) => "table",
        Value::Function(_) => "function",
        Value::Thread(_) => "thread",
        _ => "userdata",
    }
}
