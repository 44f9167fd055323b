//! What goes through Lua's own interface, to be run under valgrind, too (`.ci/run memory`).

use std::panic::AssertUnwindSafe;

use mlua::MultiValue;
use tailrace_protocol::OwnedRequest;

use super::*;
use crate::script::calls as script_calls;
use crate::script::raised;
use crate::script::raised::Raised;

struct Host {
    lua: Lua,
    shared: Arc<Shared>,
    scripts: Table,
    raw: Raw,
}

impl Host {
    fn new() -> Self {
        let lua = Lua::new();
        let shared: Arc<Shared> = Arc::default();
        let (call, pcall) = calls(&lua, &shared).unwrap();
        let globals = lua.globals();
        globals.raw_set("call", call).unwrap();
        globals.raw_set("try", pcall).unwrap();
        for (name, function) in library(&lua).unwrap() {
            globals.raw_set(name, function).unwrap();
        }
        let handle = lua.load("local err = ... return {raised = err}");
        let handle = handle.into_function().unwrap();
        let scripts = lua.create_table().unwrap();
        let raw = Raw::new(&lua, &scripts, &globals, &handle).unwrap();
        Self {
            lua,
            shared,
            scripts,
            raw,
        }
    }

    /// A script in the first slot.
    fn keep(&self, code: &str) {
        let script = self.lua.load(code).into_function().unwrap();
        self.scripts.raw_set(1, script).unwrap();
    }

    /// What comes of it, as text.
    fn run(&self, keys: &[&str], args: &[&str]) -> String {
        let [keys, args] = [keys, args].map(|words| words.iter().collect::<OwnedRequest>());
        let (keys, args) = (keys.as_request(), args.as_request());
        let told = self.raw.run(0, keys, args, &self.shared, told);
        told.unwrap()
    }

    /// Runs `code` with the value that a reply becomes.
    fn read(&self, reply: &str, code: &str) -> Result<MultiValue> {
        // SAFETY: as for the functions of this folder.
        let function: Function = unsafe {
            self.lua.exec_raw(reply, |state| {
                reply::Names::push_all(state);
                ffi::lua_pushcclosure(state, push_reply, 1 + reply::Names::COUNT);
            })?
        };
        let value: Value = function.call(())?;
        self.lua.load(code).call(value)
    }
}

/// Gives what its first upvalue becomes.
unsafe extern "C-unwind" fn push_reply(state: *mut lua_State) -> c_int {
    unsafe {
        let rest = text(state, ffi::lua_upvalueindex(1));
        let names = reply::Names::new(state, 1);
        reply::Reply { names, rest }.push();
    }
    1
}

fn told(outcome: Outcome<'_>) -> String {
    match outcome {
        Outcome::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Outcome::Number(number) => number.to_string(),
        Outcome::Boolean(value) => value.to_string(),
        Outcome::Other(value) => value.type_name().to_owned(),
        Outcome::Raised(Value::Table(table)) => {
            let raised: Value = table.raw_get("raised").unwrap();
            format!("raised {}", raised.to_string().unwrap())
        }
        Outcome::Raised(value) => format!("raised plainly {}", value.to_string().unwrap()),
    }
}

#[test]
fn a_script_gets_its_words_and_gives_one_value() {
    let host = Host::new();
    for (code, result) in [
        ("return KEYS[1] .. #KEYS .. ARGV[2] .. #ARGV", "k1b3"),
        ("return ARGV[3], 2", ""),
        ("return 2.5", "2.5"),
        ("return true", "true"),
        ("return {}", "table"),
        ("return", "nil"),
        ("error('no', 0)", "raised no"),
        ("error({}, 0)", "raised table"),
    ] {
        host.keep(code);
        let found = host.run(&["k"], &["a", "b", ""]);
        assert!(found.starts_with(result), "{code}: {found}");
    }
    assert_eq!(host.raw.depth(), 0);
}

#[test]
fn a_protected_call_returns_as_much_as_a_function_does() {
    let host = Host::new();
    let many = "local t = {} for i = 1, 500 do t[i] = i end return select('#', ";
    for (code, result) in [
        ("pcall(unpack, t))", "501"),
        ("pcall(error, t))", "2"),
        ("xpcall(function() return unpack(t) end, error))", "501"),
        ("xpcall(error, function() return unpack(t) end))", "2"),
    ] {
        host.keep(&format!("{many}{code}"));
        assert_eq!(host.run(&[], &[]), result, "{code}");
    }
    host.keep("local n = 0 local function f() n = n + 1 return pcall(f) end f() return n");
    assert_eq!(host.run(&[], &[]), "199");
}

#[test]
fn as_much_of_a_table_is_unpacked_as_there_is_room_for() {
    let host = Host::new();
    for (bounds, result) in [
        ("", "3"),
        (", 2", "2"),
        (", 2, 1", "0"),
        (", -1, '2'", "4"),
        (", 2147483647, 2147483647", "1"),
        (", -2147483648, -2147483648", "1"),
        (", 1, 7990", "7990"),
        (", 1, 8000", "raised"),
        (", -2, 2147483647", "raised"),
        (", -2147483648, 2147483647", "raised"),
        (", -2147483648, -2", "raised"),
        (", {}", "raised"),
    ] {
        host.keep(&format!("return select('#', unpack({{1, 2, 3}}{bounds}))"));
        let found = host.run(&[], &[]);
        assert!(found.starts_with(result), "{bounds}: {found}");
    }
}

#[test]
fn a_command_takes_as_many_arguments_as_lua_does() {
    let host = Host::new();
    let call = "local t = {} for i = 1, 7999 do t[i] = i % 2 == 0 and 'x' or i end return try(unpack(t)).err";
    host.keep(call);
    assert_eq!(host.run(&[], &[]), "ERR no script runs");
    host.keep("return try().err");
    assert_eq!(host.run(&[], &[]), script_calls::NO_ARGUMENTS);
    host.keep("return try('GET', {}).err");
    assert_eq!(host.run(&[], &[]), script_calls::WRONG_ARGUMENTS);
    host.keep("local ok, err = pcall(call, 'GET') return err.err");
    assert_eq!(host.run(&[], &[]), "ERR no script runs");
}

#[test]
fn a_command_is_not_run_once_the_script_is_to_end() {
    let host = Host::new();
    host.shared.watch.kill();
    let call: Function = host.lua.globals().raw_get("try").unwrap();
    let error = call.call::<Value>("PING").unwrap_err();
    assert_eq!(raised::find(&error), Some(&Raised::Killed));
}

#[test]
fn a_fault_goes_on_once_the_script_is_over() {
    let host = Host::new();
    host.keep("return 1");
    host.shared.calls.lock().keep_fault(Box::new("a fault"));
    let run = || host.run(&[], &[]);
    let fault = panic::catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(fault.downcast_ref(), Some(&"a fault"));
    assert_eq!(run(), "1");
}

/// Replies of each kind, and what is true of their values.
const REPLIES: [(&str, &str); 15] = [
    (":-12\r\n", "v == -12"),
    ("$3\r\na\rb\r\n", "v == 'a\\rb'"),
    ("$0\r\n\r\n", "v == ''"),
    ("$-1\r\n", "v == false"),
    ("*-1\r\n", "v == false"),
    ("_\r\n", "v == nil"),
    ("#t\r\n", "v == true"),
    ("+QUEUED\r\n", "v.ok == 'QUEUED'"),
    (
        "-OOPS\r\n",
        "v.err == 'ERR OOPS' and v.ignore_error_stats_update",
    ),
    (",1.5\r\n", "v.double == 1.5"),
    ("(123\r\n", "v.big_number == '123'"),
    (
        "=7\r\ntxt:abc\r\n",
        "v.verbatim_string.string == 'abc' and v.verbatim_string.format == 'txt'",
    ),
    ("%1\r\n$1\r\na\r\n*1\r\n:1\r\n", "v.map.a[1] == 1"),
    (
        "~2\r\n:1\r\n+x\r\n",
        "v.set[1] and next(v.set, next(v.set)) ~= nil",
    ),
    (
        "*3\r\n_\r\n*1\r\n-NO way\r\n|1\r\n:1\r\n:2\r\n:7\r\n",
        "v[2][1].err == 'NO way' and v[3] == 7",
    ),
];

#[test]
fn a_reply_becomes_a_value() {
    let host = Host::new();
    for (reply, is_so) in REPLIES {
        let code = format!("local v = ... assert({is_so}, [[{is_so}]])");
        host.read(reply, &code).unwrap();
    }
}

#[test]
fn a_reply_that_is_cut_short_is_no_fault() {
    let host = Host::new();
    for (reply, _) in REPLIES {
        for len in 0..reply.len() {
            // Of what is missing there is nothing, which a map takes for no key.
            let read = host.read(&reply[..len], "");
            let text = read.err().map(|error| error.to_string());
            let is_fine = text.is_none_or(|text| text.contains("index is nil"));
            assert!(is_fine, "{:?}", &reply[..len]);
        }
    }
}

#[test]
fn memory_may_end_at_any_value() {
    let host = Host::new();
    host.keep("local t = try('GET', KEYS[1]) return t.err .. #ARGV");
    let ended = |room: usize, what: &dyn Fn() -> bool| {
        host.lua.gc_collect().unwrap();
        let used = host.lua.used_memory();
        host.lua.set_memory_limit(used + room).unwrap();
        let has_ended = what();
        host.lua.set_memory_limit(0).unwrap();
        has_ended
    };
    let replies =
        "*4\r\n%1\r\n$3\r\nkey\r\n*2\r\n:1\r\n:2\r\n=9\r\ntxt:words\r\n-OOPS\r\n~1\r\n+member\r\n";
    for (name, what) in [
        (
            "run",
            &(|| host.run(&["k"], &["a", "b"]).starts_with("raised")) as &dyn Fn() -> bool,
        ),
        ("read", &|| host.read(replies, "").is_err()),
    ] {
        let outcomes: Vec<_> = (0..4_000)
            .step_by(8)
            .map(|room| ended(room, what))
            .collect();
        assert!(outcomes[0], "{name}: not even the first value has room");
        assert!(!outcomes[outcomes.len() - 1], "{name}: all of them have");
    }
    assert_eq!(host.raw.depth(), 0);
}
