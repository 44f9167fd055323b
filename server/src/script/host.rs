//! What the prelude gets from the server: functions, libraries and the table `server`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use mlua::Function;
use mlua::IntoLuaMulti;
use mlua::Lua;
use mlua::MultiValue;
use mlua::Result;
use mlua::Table;
use mlua::Value;
use parking_lot::Mutex;
use tailrace_protocol::RequestBuffer;

use super::arguments::Arguments;
use super::bits;
use super::calls;
use super::calls::Calls;
use super::json;
use super::msgpack;
use super::numbers;
use super::numbers::Random;
use super::pack;
use super::raised;
use super::raised::ErrorReply;
use super::raised::Raised;
use super::raw;
use super::values::Fields;
use super::values::with_code;
use super::watch::Watch;
use crate::command_table::CommandTable;
use crate::command_table::Lookup;

/// What the functions of all scripts share.
pub(super) struct Shared {
    /// The running script gets replies as RESP3 has them.
    pub(super) is_resp3: AtomicBool,
    /// Goes on from script to script.
    pub(super) random: Arc<Random>,
    /// Whether the running script is to end.
    pub(super) watch: Watch,
    /// The script that runs, for the commands that it calls.
    pub(super) calls: Mutex<Calls>,
    /// What all values of all scripts may take.
    pub(super) memory_bytes_max: usize,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            is_resp3: AtomicBool::new(false),
            random: Arc::default(),
            watch: Watch::default(),
            calls: Mutex::default(),
            memory_bytes_max: MEMORY_BYTES_MAX,
        }
    }
}

/// The table that the prelude is called with.
pub(super) fn table(lua: &Lua, shared: &Arc<Shared>, fields: &Arc<Fields>) -> Result<Table> {
    let host = lua.create_table()?;
    let next: Function = lua.globals().raw_get("next")?;
    add(lua, &host, "refuse", |lua, _| -> Result<()> {
        Err(raised::at_caller(lua, READONLY))
    })?;
    add(lua, &host, "refuse_plainly", |_, _| -> Result<()> {
        Err(Raised::Text(READONLY.into()).into())
    })?;
    add(lua, &host, "missing", |lua, args| missing(lua, &args))?;
    let origin = |lua: &Lua, level: usize| Ok(raised::origin(lua, level).unzip());
    host.raw_set("origin", lua.create_function(origin)?)?;
    let bad_argument = |lua: &Lua, (index, name, why): (usize, String, String)| -> Result<()> {
        Err(raised::bad_argument(lua, index, &name, &why))
    };
    host.raw_set("bad_argument", lua.create_function(bad_argument)?)?;
    let at_caller = |lua: &Lua, text: String| -> Result<()> { Err(raised::at_caller(lua, text)) };
    host.raw_set("at_caller", lua.create_function(at_caller)?)?;
    let names = Arc::clone(fields);
    let caught = move |lua: &Lua, value: Value| caught(lua, &names, value);
    host.raw_set("caught", lua.create_function(caught)?)?;
    let names = Arc::clone(fields);
    let ended = move |lua: &Lua, value: Value| ended(lua, &names, value);
    host.raw_set("ended", lua.create_function(ended)?)?;
    let of_all = Arc::clone(shared);
    add(lua, &host, "check", move |_, _| of_all.watch.check())?;
    let of_all = Arc::clone(shared);
    let is_killed = move |_: &Lua, _| Ok(of_all.watch.is_killed());
    add(lua, &host, "is_killed", is_killed)?;
    add_random(lua, &host, &shared.random)?;
    for (name, function) in raw::library(lua)? {
        host.raw_set(name, function)?;
    }
    host.raw_set("absent", ABSENT)?;
    let libraries = lua.create_table()?;
    libraries.raw_set("bit", bits::library(lua)?)?;
    libraries.raw_set("cjson", json::library(lua, &next)?)?;
    libraries.raw_set("cmsgpack", msgpack::library(lua, &next)?)?;
    libraries.raw_set("struct", pack::library(lua)?)?;
    host.raw_set("libraries", libraries)?;
    host.raw_set("server", server(lua, shared, fields)?)?;
    Ok(host)
}

fn add<R: IntoLuaMulti>(
    lua: &Lua,
    table: &Table,
    name: &str,
    function: impl Fn(&Lua, MultiValue) -> Result<R> + Send + 'static,
) -> Result<()> {
    table.raw_set(name, lua.create_function(function)?)
}

/// A global that is not there was read.
fn missing(lua: &Lua, args: &MultiValue) -> Result<()> {
    if args.len() != 2 {
        let text = "Wrong number of arguments to luaProtectedTableError";
        return Err(raised::at_caller(lua, text));
    }
    let name = lua.coerce_string(args[1].clone())?;
    let Some(name) = name else {
        let text = "Second argument to luaProtectedTableError must be a string or number";
        return Err(raised::at_caller(lua, text));
    };
    let name = name.as_bytes();
    let before = b"Script attempted to access nonexistent global variable '";
    let text = [before, crate::args::text(&name), b"'"].concat();
    Err(raised::at_caller(lua, text))
}

/// What a caught error is to a script.
fn caught(lua: &Lua, fields: &Fields, value: Value) -> Result<Value> {
    let Value::Error(error) = value else {
        return Ok(value);
    };
    match raised::find(&error) {
        Some(Raised::Killed) => Err(Raised::Killed.into()),
        Some(Raised::Text(text)) => Ok(Value::String(lua.create_string(text)?)),
        Some(Raised::Reply(reply)) => Ok(Value::Table(fields.error_table(lua, reply)?)),
        None => {
            let text = raised::of_memory(&error);
            let text = text.map_or_else(|| error.to_string(), str::to_owned);
            let line = text.lines().next().unwrap_or_default();
            Ok(Value::String(lua.create_string(line)?))
        }
    }
}

/// As [`caught`], for what ends the whole script: that it was killed is an error like any other. Says also
/// whether memory was used up, which has no place.
fn ended(lua: &Lua, fields: &Fields, value: Value) -> Result<(Value, bool)> {
    match &value {
        Value::Error(error) if raised::find(error) == Some(&Raised::Killed) => {
            let error = ErrorReply::new(raised::KILLED);
            Ok((Value::Table(fields.error_table(lua, &error)?), false))
        }
        Value::Error(error) if raised::of_memory(error).is_some() => {
            Ok((caught(lua, fields, value)?, true))
        }
        _ => Ok((caught(lua, fields, value)?, false)),
    }
}

fn add_random(lua: &Lua, host: &Table, random: &Arc<Random>) -> Result<()> {
    let source = Arc::clone(random);
    add(lua, host, "random", move |lua, args| {
        let args = Arguments::new(lua, "random", &args);
        let value = source.next();
        let int = |index: usize| args.integer(index).map(numbers::as_int);
        match args.len() {
            0 => Ok(value),
            1 => {
                let max = int(1)?;
                if max < 1 {
                    return Err(args.bad(1, "interval is empty"));
                }
                Ok((value * f64::from(max)).floor() + 1.0)
            }
            2 => {
                let (min, max) = (int(1)?, int(2)?);
                if min > max {
                    return Err(args.bad(2, "interval is empty"));
                }
                let width = max.wrapping_sub(min).wrapping_add(1);
                Ok((value * f64::from(width)).floor() + f64::from(min))
            }
            _ => Err(args.fail("wrong number of arguments")),
        }
    })?;
    let source = Arc::clone(random);
    add(lua, host, "randomseed", move |lua, args| {
        let args = Arguments::new(lua, "randomseed", &args);
        source.seed(numbers::as_int(args.integer(1)?).cast_unsigned());
        Ok(())
    })
}

/// The table `server`.
fn server(lua: &Lua, shared: &Arc<Shared>, fields: &Arc<Fields>) -> Result<Table> {
    let server = lua.create_table()?;
    for (name, value) in CONSTANTS {
        server.raw_set(*name, *value)?;
    }
    add(lua, &server, "log", |lua, args| log(lua, &args))?;
    add(lua, &server, "sha1hex", |lua, args| {
        if args.len() != 1 {
            return Err(ErrorReply::new("ERR wrong number of arguments").into());
        }
        let text = lua.coerce_string(args[0].clone())?;
        Ok(match text {
            Some(text) => super::sha1_hex(&text.as_bytes()),
            None => super::sha1_hex(b""),
        })
    })?;
    let names = Arc::clone(fields);
    add(lua, &server, "error_reply", move |lua, args| {
        let error = match single_string(&args) {
            Some(text) => {
                let text = text.strip_prefix(b"-").unwrap_or(&text);
                ErrorReply::new(error_text(text))
            }
            None => ErrorReply::new(WRONG_ARGUMENTS),
        };
        names.error_table(lua, &error)
    })?;
    let names = Arc::clone(fields);
    add(lua, &server, "status_reply", move |lua, args| {
        if single_string(&args).is_none() {
            return names.error_table(lua, &ErrorReply::new(WRONG_ARGUMENTS));
        }
        let table = lua.create_table()?;
        table.raw_set("ok", args[0].clone())?;
        Ok(table)
    })?;
    add(lua, &server, "set_repl", |lua, args| {
        let Some(flags) = args.front().filter(|_| args.len() == 1) else {
            return refuse("ERR server.set_repl() requires one argument.");
        };
        if as_number(lua, flags)? & !3 != 0 {
            return refuse(
                "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
            );
        }
        Ok(())
    })?;
    let (call, pcall) = raw::calls(lua, shared)?;
    server.raw_set("call", call)?;
    server.raw_set("pcall", pcall)?;
    add_checks(lua, &server, shared)?;
    add(lua, &server, "breakpoint", |_, _| Ok(false))?;
    add(lua, &server, "debug", |_, _| Ok(()))?;
    add(lua, &server, "replicate_commands", |_, _| Ok(true))?;
    Ok(server)
}

/// The functions that depend on the run or on the commands there are.
fn add_checks(lua: &Lua, server: &Table, shared: &Arc<Shared>) -> Result<()> {
    let of_all = Arc::clone(shared);
    add(lua, server, "setresp", move |lua, args| {
        let Some(version) = args.front().filter(|_| args.len() == 1) else {
            return refuse("ERR server.setresp() requires one argument.");
        };
        let is_resp3 = match as_number(lua, version)? {
            2 => false,
            3 => true,
            _ => return refuse("ERR RESP version must be 2 or 3."),
        };
        of_all.is_resp3.store(is_resp3, Ordering::Relaxed);
        Ok(())
    })?;
    add(lua, server, "acl_check_cmd", |_, args| {
        let mut request = RequestBuffer::default();
        calls::read_request(&args, &mut request).map_err(ErrorReply::new)?;
        let known = CommandTable::default();
        match known.look_up(request.as_request()) {
            Lookup::Found(_) => Ok(true),
            Lookup::UnknownSubcommand(_) | Lookup::Unknown => {
                Err(ErrorReply::new("ERR Invalid command passed to server.acl_check_cmd()").into())
            }
        }
    })
}

fn refuse(text: &str) -> Result<()> {
    Err(ErrorReply::new(text).into())
}

fn as_number(lua: &Lua, value: &Value) -> Result<i64> {
    let number = lua.coerce_number(value.clone())?;
    Ok(number.map_or(0, numbers::truncated))
}

/// The only argument, if it is a string: as much of it as C takes for one.
fn single_string(args: &MultiValue) -> Option<Vec<u8>> {
    let text = args.front().filter(|_| args.len() == 1)?.as_string()?;
    Some(crate::args::text(&text.as_bytes()).to_vec())
}

/// An error's text, which is one line and has a code in front.
fn error_text(text: &[u8]) -> Vec<u8> {
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let Some(blank) = text.iter().position(|&byte| byte == b' ') else {
        return with_code(text);
    };
    let (code, message) = text.split_at(blank + 1);
    let start = message.iter().position(|byte| !is_line_end(byte));
    let end = message.iter().rposition(|byte| !is_line_end(byte));
    let message = match (start, end) {
        (Some(start), Some(end)) => &message[start..=end],
        _ => &[],
    };
    [code, message].concat()
}

fn log(lua: &Lua, args: &MultiValue) -> Result<()> {
    if args.len() < 2 {
        return refuse("ERR server.log() requires two arguments or more.");
    }
    let Some(level) = lua.coerce_number(args[0].clone())? else {
        return refuse("ERR First argument must be a number (log level).");
    };
    let mut words = Vec::new();
    for word in args.iter().skip(1) {
        if let Some(word) = lua.coerce_string(word.clone())? {
            words.push(word.to_string_lossy());
        }
    }
    let text = words.join(" ");
    match numbers::truncated(level) {
        0 => tracing::trace!("{text}"),
        1 => tracing::debug!("{text}"),
        2 => tracing::info!("{text}"),
        3 => tracing::warn!("{text}"),
        _ => return refuse("ERR Invalid log level."),
    }
    Ok(())
}

/// What all values of all scripts may take. The reference knows no limit but that of the machine; a script
/// that goes on and on is to end before the server does.
const MEMORY_BYTES_MAX: usize = 1_024 * 1_024 * 1_024;
const READONLY: &str = "Attempt to modify a readonly table";
const WRONG_ARGUMENTS: &str = "ERR wrong number or type of arguments";
/// The globals of Lua that scripts do not get.
const ABSENT: [&str; 8] = [
    "dofile", "getfenv", "loadfile", "module", "newproxy", "print", "require", "setfenv",
];
/// The numbers in the table `server`.
const CONSTANTS: &[(&str, i64)] = &[
    ("LOG_DEBUG", 0),
    ("LOG_VERBOSE", 1),
    ("LOG_NOTICE", 2),
    ("LOG_WARNING", 3),
    ("REPL_NONE", 0),
    ("REPL_AOF", 1),
    ("REPL_SLAVE", 2),
    ("REPL_REPLICA", 2),
    ("REPL_ALL", 3),
];
