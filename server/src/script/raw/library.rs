//! Functions of Lua's library that cannot be taken as they are.
//!
//! `pcall` and `xpcall` of Lua and of mlua write past the end of their frame once a function returned as much as
//! that holds, which a build with Lua's assertions ends at. `unpack` counts its results as a signed number, which
//! overflows for `unpack({}, -2, 2147483647)` and lets it write past the stack; the reference mended that.

use std::ffi::c_int;

use mlua::Function;
use mlua::Lua;
use mlua::Result;
use mlua::ffi;
use mlua::lua_State;

use crate::script::numbers::as_int;

/// The functions by their names. A panic that passed through mlua is a value to them; who looks at it goes on with it.
pub(super) fn functions(lua: &Lua) -> Result<[(&'static str, Function); 3]> {
    // SAFETY: they hold nothing that is to be dropped.
    unsafe {
        Ok([
            ("pcall", lua.create_c_function(pcall)?),
            ("xpcall", lua.create_c_function(xpcall)?),
            ("unpack", lua.create_c_function(unpack)?),
        ])
    }
}

/// With a function and its arguments.
unsafe extern "C-unwind" fn pcall(state: *mut lua_State) -> c_int {
    unsafe {
        let count = ffi::lua_gettop(state) - 1;
        let status = ffi::lua_pcall(state, count, ffi::LUA_MULTRET, 0);
        push_status(state, status);
        ffi::lua_insert(state, 1);
        ffi::lua_gettop(state)
    }
}

/// With a function and a handler.
unsafe extern "C-unwind" fn xpcall(state: *mut lua_State) -> c_int {
    unsafe {
        ffi::lua_insert(state, 1);
        let status = ffi::lua_pcall(state, 0, ffi::LUA_MULTRET, 1);
        push_status(state, status);
        ffi::lua_replace(state, 1);
        ffi::lua_gettop(state)
    }
}

/// With a table, and from where to where.
unsafe extern "C-unwind" fn unpack(state: *mut lua_State) -> c_int {
    unsafe {
        ffi::luaL_checktype(state, 1, ffi::LUA_TTABLE);
        let first = as_int(ffi::luaL_optinteger(state, 2, 1));
        let len = as_int(ffi::lua_objlen(state, 1).cast_signed() as ffi::lua_Integer);
        let last = as_int(ffi::luaL_optinteger(state, 3, ffi::lua_Integer::from(len)));
        if first > last {
            return 0;
        }
        let count = i64::from(last) - i64::from(first) + 1;
        match c_int::try_from(count) {
            Ok(count) if ffi::lua_checkstack(state, count) != 0 => {
                for index in first..=last {
                    ffi::lua_rawgeti_(state, 1, index);
                }
                count
            }
            _ => ffi::luaL_error(state, c"too many results to unpack".as_ptr()),
        }
    }
}

/// Pushes whether a call came to its end.
unsafe fn push_status(state: *mut lua_State, status: c_int) {
    unsafe {
        if ffi::lua_checkstack(state, 1) == 0 {
            ffi::luaL_error(state, c"stack overflow".as_ptr());
        }
        ffi::lua_pushboolean(state, c_int::from(status == ffi::LUA_OK));
    }
}
