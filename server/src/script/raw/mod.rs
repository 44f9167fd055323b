//! What runs most often of a script, by Lua's own interface in C: giving it its words, calling it, the
//! commands that it calls, and what comes of them. Through mlua each value would be a reference that is
//! counted, which took more than half of the time of a short script.
//!
//! Only here is `unsafe` allowed. A function of Lua that allocates, or raises an error, may leave by
//! `longjmp`, and then nothing is dropped on its way. So there are two kinds of functions here:
//!
//! - those that ask Lua for nothing that raises. They hold whatever they like;
//! - those named `push_*` and the functions that Lua calls. **Invariant: while they call Lua they hold nothing
//!   that is to be dropped, no lock, and no panic passes through them.** What they need lies in [`Shared`], and
//!   nobody changes it meanwhile, since nothing of a script runs while a value is made. Garbage may be
//!   collected then: what mlua drops for that knows nothing of this folder.
//!
//! [`Raw::run`] calls what may raise through `lua_pcall` only.

mod command;
mod lent;
mod library;
mod reply;
#[cfg(test)]
mod tests;

use std::ffi::c_int;
use std::panic;
use std::slice;
use std::sync::Arc;

use mlua::Function;
use mlua::Lua;
use mlua::Result;
use mlua::Table;
use mlua::Value;
use mlua::ffi;
use mlua::lua_State;
use tailrace_protocol::Request;

pub(super) use self::lent::Lent;
pub(super) use self::lent::lend;
use super::cache::Slot;
use super::host::Shared;

/// The way into an interpreter, and to what a run needs of it.
pub(super) struct Raw {
    /// The main thread of Lua. It lives as long as the interpreter that holds this.
    state: *mut lua_State,
    /// Where the registry of Lua has them.
    give: c_int,
    handle: c_int,
    scripts: c_int,
    results: c_int,
    /// Holds what a script returned if mlua is to look at it.
    result: Table,
}

// SAFETY: Lua is used by the thread that owns its interpreter, or holds mlua's lock, and by no other.
unsafe impl Send for Raw {}

/// What a script returned or raised.
pub(super) enum Outcome<'a> {
    /// A string.
    Text(&'a [u8]),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// Anything else that it returned.
    Other(Value),
    /// What it raised.
    Raised(Value),
}

/// What a script is called with.
struct Words<'a> {
    keys: Request<'a>,
    args: Request<'a>,
}

impl Raw {
    /// For an interpreter whose scripts lie in a table by their slots, whose globals are in another, and
    /// whose errors go through `handle`.
    pub(super) fn new(
        lua: &Lua,
        scripts: &Table,
        globals: &Table,
        handle: &Function,
    ) -> Result<Self> {
        // A table with room for one value, so that putting it there takes none.
        let result = lua.create_table_with_capacity(1, 0)?;
        let names = (globals, "KEYS", "ARGV");
        // SAFETY: the closures hold nothing that is to be dropped, and run protected. There is room for the few
        // values that they push.
        let give: Function =
            unsafe { lua.exec_raw(names, |state| ffi::lua_pushcclosure(state, give, 3))? };
        let mut state = std::ptr::null_mut();
        let mut refs = [0; 4];
        let kept = (give, handle, scripts, &result);
        unsafe {
            lua.exec_raw::<()>(kept, |within| {
                for at in refs.iter_mut().rev() {
                    *at = ffi::luaL_ref(within, ffi::LUA_REGISTRYINDEX);
                }
                state = within;
            })?;
        }
        let [give, handle, scripts, results] = refs;
        Ok(Self {
            state,
            give,
            handle,
            scripts,
            results,
            result,
        })
    }

    /// Runs the script in a slot, and has `read` look at what came of it.
    pub(super) fn run<T>(
        &self,
        slot: Slot,
        keys: Request<'_>,
        args: Request<'_>,
        shared: &Shared,
        read: impl FnOnce(Outcome<'_>) -> T,
    ) -> Result<T> {
        let words = Words { keys, args };
        let slot = c_int::try_from(slot + 1).unwrap_or(c_int::MAX);
        let state = self.state;
        // SAFETY: the state is that of the interpreter which this belongs to. What is called here without
        // `lua_pcall` makes no values, so nothing raises; `words` lives until `give` has read it.
        let outcome = unsafe {
            if ffi::lua_checkstack(state, STACK_OF_RUN) == 0 {
                return Err(mlua::Error::StackError);
            }
            let base = ffi::lua_gettop(state);
            ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, self.handle);
            ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, self.give);
            ffi::lua_pushlightuserdata(state, (&raw const words).cast_mut().cast());
            let mut status = ffi::lua_pcall(state, 1, 0, 0);
            if status == ffi::LUA_OK {
                ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, self.scripts);
                ffi::lua_rawgeti_(state, -1, slot);
                ffi::lua_remove(state, -2);
                status = ffi::lua_pcall(state, 0, 1, base + 1);
            }
            let outcome = self.outcome(status == ffi::LUA_OK);
            let outcome = outcome.map(read);
            ffi::lua_settop(state, base);
            outcome
        };
        if let Some(fault) = shared.calls.lock().take_fault() {
            panic::resume_unwind(fault);
        }
        outcome
    }

    /// How much lies on the stack, which is to be nothing between runs.
    #[cfg(test)]
    fn depth(&self) -> c_int {
        // SAFETY: this only reads a number.
        unsafe { ffi::lua_gettop(self.state) }
    }

    /// What lies at the top of the stack. A text is there for as long as that lies there.
    ///
    /// # Safety
    ///
    /// Something does.
    unsafe fn outcome(&self, is_done: bool) -> Result<Outcome<'_>> {
        let state = self.state;
        unsafe {
            match ffi::lua_type(state, -1) {
                ffi::LUA_TSTRING if is_done => return Ok(Outcome::Text(text(state, -1))),
                ffi::LUA_TNUMBER if is_done => {
                    return Ok(Outcome::Number(ffi::lua_tonumber(state, -1)));
                }
                ffi::LUA_TBOOLEAN if is_done => {
                    return Ok(Outcome::Boolean(ffi::lua_toboolean(state, -1) != 0));
                }
                _ => {}
            }
            // The place is there, so this makes no room for it.
            ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, self.results);
            ffi::lua_insert(state, -2);
            ffi::lua_rawseti_(state, -2, 1);
        }
        let value = self.result.raw_get(1)?;
        self.result.raw_set(1, false)?;
        Ok(if is_done {
            Outcome::Other(value)
        } else {
            Outcome::Raised(value)
        })
    }
}

/// Makes `call` and `pcall` of the table `server`.
pub(super) fn calls(lua: &Lua, shared: &Arc<Shared>) -> Result<(Function, Function)> {
    command::functions(lua, shared)
}

/// Makes `pcall`, `xpcall` and `unpack`.
pub(super) fn library(lua: &Lua) -> Result<[(&'static str, Function); 3]> {
    library::functions(lua)
}

/// Sets `KEYS` and `ARGV`. Its upvalues are the table of the globals and the two names.
unsafe extern "C-unwind" fn give(state: *mut lua_State) -> c_int {
    unsafe {
        let words = ffi::lua_touserdata(state, 1).cast::<Words<'_>>();
        for (name, words) in [(2, (*words).keys), (3, (*words).args)] {
            ffi::lua_pushvalue(state, ffi::lua_upvalueindex(name));
            let len = c_int::try_from(words.len()).unwrap_or(c_int::MAX);
            ffi::lua_createtable(state, len, 0);
            let mut index = 0;
            for word in words {
                index += 1;
                push_text(state, word);
                ffi::lua_rawseti_(state, -2, index);
            }
            ffi::lua_rawset(state, ffi::lua_upvalueindex(1));
        }
    }
    0
}

/// The bytes of the string at `index`.
///
/// # Safety
///
/// There is one, and it stays there for as long as they are looked at.
unsafe fn text<'a>(state: *mut lua_State, index: c_int) -> &'a [u8] {
    let mut len = 0;
    unsafe {
        let start = ffi::lua_tolstring(state, index, &raw mut len);
        slice::from_raw_parts(start.cast(), len)
    }
}

/// Pushes a string.
///
/// # Safety
///
/// As the head of this file says.
unsafe fn push_text(state: *mut lua_State, text: &[u8]) {
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len()) };
}

/// How many places a run takes on the stack of its thread.
const STACK_OF_RUN: c_int = 8;
