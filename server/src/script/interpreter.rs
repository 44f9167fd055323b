//! Lua, with all that scripts find in it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::Either;
use mlua::Function;
use mlua::HookTriggers;
use mlua::IntoLua;
use mlua::Lua;
use mlua::LuaOptions;
use mlua::LuaString;
use mlua::Result;
use mlua::StdLib;
use mlua::Table;
use mlua::Value;
use mlua::Variadic;
use mlua::VmState;
use mlua::chunk::ChunkMode;
use tailrace_protocol::Request;
use tailrace_storage::Compat;

use super::cache::Slot;
use super::calls;
use super::host;
use super::host::Shared;
use super::raised;
use super::values::Fields;
use crate::server_info::REDIS_VERSION;
use crate::server_info::REDIS_VERSION_OF_VALKEY;
use crate::server_info::VALKEY_VERSION;
use crate::state::State;

/// One interpreter. Its scripts see nothing of each other, and cannot change what they find.
pub(super) struct Interpreter {
    pub(super) lua: Lua,
    pub(super) shared: Arc<Shared>,
    pub(super) fields: Arc<Fields>,
    /// Lua's own `next`.
    pub(super) next: Function,
    /// The table that is shown as `server` and `redis`.
    pub(super) server: Table,
    /// Keeps a script in a slot of a table. Only so much may be kept outside of Lua as its stack holds.
    keep: Function,
    compile: Function,
    /// Sets `KEYS` and `ARGV`.
    give: Function,
    /// The same, from words that are not in tables yet.
    give_few: Function,
    run: Function,
    /// Whose version `server` tells.
    compat: Option<Compat>,
    /// What stands in place of the state while a script runs.
    pub(super) stand_in: Option<Box<State>>,
}

impl Interpreter {
    /// A new one.
    pub(super) fn new(shared: &Arc<Shared>) -> Result<Self> {
        let libraries = StdLib::TABLE | StdLib::OS | StdLib::STRING;
        let options = LuaOptions::new().catch_rust_panics(false);
        let lua = Lua::new_with(libraries | StdLib::MATH, options)?;
        let fields = Arc::new(Fields::new(&lua)?);
        let host = host::table(&lua, shared, &fields)?;
        let prelude = lua.load(PRELUDE).set_name(raised::PRELUDE);
        let world: Table = prelude.set_mode(ChunkMode::Text).call(host)?;
        let server: Table = world.raw_get("server")?;
        add_hook(&lua, shared)?;
        lua.set_memory_limit(shared.memory_bytes_max)?;
        Ok(Self {
            shared: Arc::clone(shared),
            fields,
            next: world.raw_get("next")?,
            server,
            keep: world.raw_get("keep")?,
            compile: world.raw_get("compile")?,
            give: world.raw_get("give")?,
            give_few: world.raw_get("give_few")?,
            run: world.raw_get("run")?,
            compat: None,
            stand_in: None,
            lua,
        })
    }

    /// Compiles the text of a script; otherwise what is wrong with it.
    pub(super) fn compile(&self, text: &[u8]) -> Result<std::result::Result<Function, Vec<u8>>> {
        let text = self.lua.create_string(text)?;
        let (script, error): (Option<Function>, Option<LuaString>) = self.compile.call(text)?;
        let error = || {
            error
                .map(|error| error.as_bytes().to_vec())
                .unwrap_or_default()
        };
        Ok(script.ok_or_else(error))
    }

    /// Keeps a script in a slot.
    pub(super) fn keep(&self, slot: Slot, script: &Function) -> Result<()> {
        self.keep.call((lua_slot(slot), script))
    }

    /// Runs a script. Gives whether it came to its end, and what it returned or raised.
    pub(super) fn run(
        &self,
        slot: Slot,
        keys: Request<'_>,
        args: Request<'_>,
    ) -> Result<(bool, Value)> {
        let lua = &self.lua;
        without_limit(lua, &self.shared, || {
            if keys.len() + args.len() > FEW_WORDS_MAX {
                return self.give.call::<()>((list(lua, keys)?, list(lua, args)?));
            }
            let words = keys.into_iter().chain(args).map(word);
            let words: Variadic<_> = words.collect();
            self.give_few.call::<()>((keys.len(), words))
        })?;
        self.run.call(lua_slot(slot))
    }

    /// Frees what nothing refers to any more. Where all memory is taken, even to ask for that takes some.
    pub(super) fn collect(&self) -> Result<()> {
        without_limit(&self.lua, &self.shared, || self.lua.gc_collect())
    }

    /// A script begins, on a server that says it is this one.
    pub(super) fn begin(&mut self, compat: Compat) -> Result<()> {
        self.shared.is_resp3.store(false, Ordering::Relaxed);
        if self.compat.replace(compat) == Some(compat) {
            return Ok(());
        }
        let (name, redis, valkey) = match compat {
            Compat::Valkey => ("valkey", REDIS_VERSION_OF_VALKEY, Some(VALKEY_VERSION)),
            Compat::Redis => ("redis", REDIS_VERSION, None),
        };
        self.server.raw_set("SERVER_NAME", name)?;
        self.server.raw_set("REDIS_VERSION", redis)?;
        self.server
            .raw_set("REDIS_VERSION_NUM", version_number(redis))?;
        self.server.raw_set("VALKEY_VERSION", valkey)?;
        let number = valkey.map(version_number);
        self.server.raw_set("VALKEY_VERSION_NUM", number)
    }
}

/// Has Lua look every now and then whether the script that runs is over its time or is to end.
fn add_hook(lua: &Lua, shared: &Arc<Shared>) -> Result<()> {
    let shared = Arc::clone(shared);
    let every = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_PER_LOOK);
    lua.set_global_hook(every, move |_, _| {
        calls::look_after(&shared)?;
        Ok(VmState::Continue)
    })
}

/// Lets the server make values without a look at the limit of memory, which takes many times as long.
/// What it makes counts: should it be too much, what the script makes next fails.
pub(super) fn without_limit<T>(
    lua: &Lua,
    shared: &Shared,
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    lua.set_memory_limit(0)?;
    let made = make();
    lua.set_memory_limit(shared.memory_bytes_max)?;
    made
}

/// The table of some words.
fn list(lua: &Lua, words: Request<'_>) -> Result<Table> {
    lua.create_sequence_from(words.into_iter().map(word))
}

/// A word as Lua gets it. Text finds a faster way there than other bytes.
fn word(bytes: &[u8]) -> Either<&str, Bytes<'_>> {
    match str::from_utf8(bytes) {
        Ok(text) => Either::Left(text),
        Err(_) => Either::Right(Bytes(bytes)),
    }
}

struct Bytes<'a>(&'a [u8]);

impl IntoLua for Bytes<'_> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Ok(Value::String(lua.create_string(self.0)?))
    }
}

fn lua_slot(slot: Slot) -> i64 {
    i64::try_from(slot + 1).unwrap_or(i64::MAX)
}

/// A version as one number: 8 bits for each part.
fn version_number(version: &str) -> u32 {
    let parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    parts.fold(0, |number: u32, part: u32| number << 8 | part & 0xFF)
}

/// How many keys and arguments become tables in Lua: above, tables are made for it.
const FEW_WORDS_MAX: usize = 16;
/// About a millisecond's worth.
const INSTRUCTIONS_PER_LOOK: u32 = 100_000;
/// What Lua runs first.
const PRELUDE: &str = include_str!("prelude.lua");
