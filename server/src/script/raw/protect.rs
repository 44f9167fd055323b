//! `pcall` and `xpcall` as Lua has them, for the prelude. Lua's own and those of mlua write past the end of
//! their frame once a function returned as much as that holds, which a build with Lua's assertions ends at.

use std::ffi::c_int;

use mlua::Function;
use mlua::Lua;
use mlua::Result;
use mlua::ffi;
use mlua::lua_State;

/// The two functions. A panic that passed through mlua is a value to them; who looks at it goes on with it.
pub(super) fn functions(lua: &Lua) -> Result<(Function, Function)> {
    // SAFETY: they hold nothing that is to be dropped.
    unsafe {
        Ok((
            lua.create_c_function(pcall)?,
            lua.create_c_function(xpcall)?,
        ))
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

/// Pushes whether a call came to its end.
unsafe fn push_status(state: *mut lua_State, status: c_int) {
    unsafe {
        if ffi::lua_checkstack(state, 1) == 0 {
            ffi::luaL_error(state, c"stack overflow".as_ptr());
        }
        ffi::lua_pushboolean(state, c_int::from(status == ffi::LUA_OK));
    }
}
