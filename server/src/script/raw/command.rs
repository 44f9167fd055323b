//! `server.call` and `server.pcall` as Lua calls them.

use std::ffi::c_int;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use mlua::Function;
use mlua::LightUserData;
use mlua::Lua;
use mlua::Result;
use mlua::Value;
use mlua::ffi;
use mlua::lua_State;
use tailrace_protocol::RequestBuffer;

use super::reply::Names;
use super::reply::Reply;
use super::reply::push_error;
use super::text;
use crate::script::calls;
use crate::script::calls::Answer;
use crate::script::host::Shared;
use crate::script::raised::Raised;

/// The two functions. They know what they share by its address, which their interpreter holds on to.
pub(super) fn functions(lua: &Lua, shared: &Arc<Shared>) -> Result<(Function, Function)> {
    let killed = Value::Error(Box::new(Raised::Killed.into()));
    let make = |function: ffi::lua_CFunction| {
        let address = LightUserData(Arc::as_ptr(shared).cast_mut().cast());
        let own = (address, killed.clone());
        // SAFETY: the closure holds nothing that is to be dropped, and runs protected.
        unsafe {
            lua.exec_raw(own, move |state| {
                Names::push_all(state);
                ffi::lua_pushcclosure(state, function, KILLED + Names::COUNT);
            })
        }
    };
    Ok((make(call)?, make(pcall)?))
}

unsafe extern "C-unwind" fn call(state: *mut lua_State) -> c_int {
    unsafe {
        if push_answer(state) {
            return 1;
        }
        ffi::lua_error(state)
    }
}

unsafe extern "C-unwind" fn pcall(state: *mut lua_State) -> c_int {
    unsafe { push_answer(state) };
    1
}

/// Runs the command that lies on the stack, and leaves only its reply or its error there. Says whether it is
/// a reply.
///
/// # Safety
///
/// As the head of this folder says; the function that runs is one of [`functions`].
unsafe fn push_answer(state: *mut lua_State) -> bool {
    unsafe {
        let shared = ffi::lua_touserdata(state, ffi::lua_upvalueindex(SHARED));
        let shared = &*shared.cast::<Shared>();
        let answer = perform(state, shared);
        // With all arguments that Lua allows there would be no room left.
        ffi::lua_settop(state, 0);
        // Nobody else looks at this while the script runs, or changes it before its next command.
        let out = (*shared.calls.data_ptr()).out();
        let names = Names::new(state, KILLED);
        match answer {
            Answer::Reply => {
                Reply { names, rest: out }.push();
                return true;
            }
            Answer::Error { is_counted } => push_error(names, out, is_counted),
            Answer::Killed => {
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(KILLED));
                ffi::lua_error(state)
            }
        }
        false
    }
}

/// Runs the command. Whatever happens there ends here.
///
/// # Safety
///
/// A function runs whose arguments lie on the stack.
unsafe fn perform(state: *mut lua_State, shared: &Shared) -> Answer {
    let read = |request: &mut RequestBuffer| unsafe { read(state, request) };
    let done = panic::catch_unwind(AssertUnwindSafe(|| calls::perform(shared, read)));
    done.unwrap_or_else(|fault| {
        shared.calls.lock().keep_fault(fault);
        shared.watch.kill();
        Answer::Killed
    })
}

/// Reads the arguments of the function that runs as a request. Nothing here raises: what is not a string is not
/// made one.
unsafe fn read(
    state: *mut lua_State,
    request: &mut RequestBuffer,
) -> std::result::Result<(), &'static str> {
    unsafe {
        let count = ffi::lua_gettop(state);
        if count == 0 {
            return Err(calls::NO_ARGUMENTS);
        }
        for index in 1..=count {
            match ffi::lua_type(state, index) {
                ffi::LUA_TSTRING => request.push(text(state, index)),
                ffi::LUA_TNUMBER => {
                    calls::push_number(request, ffi::lua_tonumber(state, index));
                }
                _ => return Err(calls::WRONG_ARGUMENTS),
            }
        }
    }
    Ok(())
}

/// The upvalues in front of the names: where what the functions share lies, and what ends a script.
const SHARED: c_int = 1;
const KILLED: c_int = 2;
