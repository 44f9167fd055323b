//! Replies of commands to values on Lua's stack.

use std::ffi::c_int;

use mlua::ffi;
use mlua::lua_State;
use tailrace_protocol::number::parse_i64;

use super::push_text;

/// The names of the fields that say what kind of reply a table is. They are the last upvalues of the function
/// that runs, so that they need not be made or looked for.
#[derive(Clone, Copy)]
pub(super) struct Names {
    state: *mut lua_State,
    /// How many upvalues are before them.
    before: c_int,
}

/// One of them, counted from 1.
#[derive(Clone, Copy)]
struct Name(c_int);

impl Names {
    /// How many there are.
    pub(super) const COUNT: c_int = 10;

    /// Those of the function that runs, behind so many other upvalues.
    pub(super) fn new(state: *mut lua_State, before: c_int) -> Self {
        Self { state, before }
    }

    /// Pushes them all for a function that is to be made.
    ///
    /// # Safety
    ///
    /// As the head of this folder says, with room for all.
    pub(super) unsafe fn push_all(state: *mut lua_State) {
        for name in NAMES {
            unsafe { push_text(state, name.as_bytes()) };
        }
    }

    /// Pushes one.
    unsafe fn push(self, name: Name) {
        let index = ffi::lua_upvalueindex(self.before + name.0);
        unsafe { ffi::lua_pushvalue(self.state, index) };
    }
}

/// A reply of a command, which was written by this server and is whole.
pub(super) struct Reply<'a> {
    pub(super) names: Names,
    /// What is left.
    pub(super) rest: &'a [u8],
}

impl<'a> Reply<'a> {
    /// Pushes the reply as a value.
    ///
    /// # Safety
    ///
    /// As the head of this folder says.
    pub(super) unsafe fn push(&mut self) {
        let (state, names) = (self.names.state, self.names);
        let (kind, line) = self.line();
        unsafe {
            if ffi::lua_checkstack(state, STACK_OF_VALUE) == 0 {
                ffi::luaL_error(state, c"too many values in the stack".as_ptr());
            }
            match kind {
                b':' => ffi::lua_pushnumber(state, integer(line)),
                b'$' | b'*' if line == b"-1" => ffi::lua_pushboolean(state, 0),
                b'$' => push_text(state, self.take(count(line))),
                b'*' | b'>' => self.push_array(count(line)),
                b'#' => ffi::lua_pushboolean(state, c_int::from(line == b"t")),
                b'-' => push_error(names, line, true),
                b'+' => push_single(names, OK, || push_text(state, line)),
                b',' => push_single(names, DOUBLE, || ffi::lua_pushnumber(state, double(line))),
                b'(' => push_single(names, BIG_NUMBER, || push_text(state, line)),
                b'=' => {
                    let text = self.take(count(line));
                    push_single(names, VERBATIM_STRING, || push_verbatim(names, text));
                }
                b'%' => push_single(names, MAP, || self.push_pairs(count(line))),
                b'~' => push_single(names, SET, || self.push_members(count(line))),
                b'|' => {
                    // Scripts see nothing of what is told about a value.
                    self.push_pairs(count(line));
                    ffi::lua_settop(state, -2);
                    self.push();
                }
                _ => ffi::lua_pushnil(state),
            }
        }
    }

    unsafe fn push_array(&mut self, len: usize) {
        let state = self.names.state;
        let len = c_int::try_from(len).unwrap_or(c_int::MAX);
        unsafe {
            ffi::lua_createtable(state, len, 0);
            for index in 1..=len {
                self.push();
                ffi::lua_rawseti_(state, -2, index);
            }
        }
    }

    unsafe fn push_pairs(&mut self, len: usize) {
        let state = self.names.state;
        unsafe {
            ffi::lua_createtable(state, 0, c_int::try_from(len).unwrap_or(c_int::MAX));
            for _ in 0..len {
                self.push();
                self.push();
                ffi::lua_rawset(state, -3);
            }
        }
    }

    unsafe fn push_members(&mut self, len: usize) {
        let state = self.names.state;
        unsafe {
            ffi::lua_createtable(state, 0, c_int::try_from(len).unwrap_or(c_int::MAX));
            for _ in 0..len {
                self.push();
                ffi::lua_pushboolean(state, 1);
                ffi::lua_rawset(state, -3);
            }
        }
    }

    /// What a line begins with, and the rest of it.
    fn line(&mut self) -> (u8, &'a [u8]) {
        let end = self.rest.iter().position(|&byte| byte == b'\r');
        let line = self.take(end.unwrap_or_default());
        match line {
            [kind, line @ ..] => (*kind, line),
            [] => (b'_', line),
        }
    }

    /// So many bytes, and passes the line end behind them. No panic may come of a reply that is not whole.
    fn take(&mut self, len: usize) -> &'a [u8] {
        let taken = self.rest.get(..len).unwrap_or_default();
        self.rest = self.rest.get(len + 2..).unwrap_or_default();
        taken
    }
}

/// Pushes the table by which scripts know an error.
///
/// # Safety
///
/// As the head of this folder says.
pub(super) unsafe fn push_error(names: Names, text: &[u8], is_counted: bool) {
    let state = names.state;
    unsafe {
        push_single(names, ERR, || {
            if text.contains(&b' ') {
                return push_text(state, text);
            }
            push_text(state, b"ERR ");
            push_text(state, text);
            ffi::lua_concat(state, 2);
        });
        if is_counted {
            names.push(IGNORE);
            ffi::lua_pushboolean(state, 1);
            ffi::lua_rawset(state, -3);
        }
    }
}

unsafe fn push_verbatim(names: Names, text: &[u8]) {
    let state = names.state;
    let (format, text) = text.split_at_checked(3).unwrap_or_default();
    unsafe {
        push_single(names, STRING, || {
            push_text(state, text.get(1..).unwrap_or_default());
        });
        names.push(FORMAT);
        push_text(state, format);
        ffi::lua_rawset(state, -3);
    }
}

/// Pushes a table with a single field, whose value `push` pushes.
unsafe fn push_single(names: Names, name: Name, push: impl FnOnce()) {
    let state = names.state;
    unsafe {
        ffi::lua_createtable(state, 0, 0);
        names.push(name);
        push();
        ffi::lua_rawset(state, -3);
    }
}

fn count(line: &[u8]) -> usize {
    let count = parse_i64(line).unwrap_or_default();
    usize::try_from(count).unwrap_or_default()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of a script are doubles"
)]
fn integer(line: &[u8]) -> f64 {
    parse_i64(line).unwrap_or_default() as f64
}

fn double(line: &[u8]) -> f64 {
    let text = str::from_utf8(line).unwrap_or_default();
    text.parse().unwrap_or_default()
}

const ERR: Name = Name(1);
const IGNORE: Name = Name(2);
const OK: Name = Name(3);
const DOUBLE: Name = Name(4);
const BIG_NUMBER: Name = Name(5);
const VERBATIM_STRING: Name = Name(6);
const FORMAT: Name = Name(7);
const STRING: Name = Name(8);
const MAP: Name = Name(9);
const SET: Name = Name(10);
/// In the same order.
const NAMES: [&str; 10] = [
    "err",
    "ignore_error_stats_update",
    "ok",
    "double",
    "big_number",
    "verbatim_string",
    "format",
    "string",
    "map",
    "set",
];
/// How many places a value takes on the stack beside those that it holds: a table and its field, and two
/// keys and values of it.
const STACK_OF_VALUE: c_int = 8;
