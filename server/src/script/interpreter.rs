//! Lua, with all that scripts find in it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::Function;
use mlua::HookTriggers;
use mlua::Lua;
use mlua::LuaOptions;
use mlua::LuaString;
use mlua::Result;
use mlua::StdLib;
use mlua::Table;
use mlua::VmState;
use mlua::chunk::ChunkMode;
use tailrace_protocol::Request;
use tailrace_storage::Compat;

use super::cache::Slot;
use super::calls;
use super::host;
use super::host::Shared;
use super::raised;
use super::raw::Outcome;
use super::raw::Raw;
use super::values::Fields;
use crate::server_info::REDIS_VERSION;
use crate::server_info::REDIS_VERSION_OF_VALKEY;
use crate::server_info::VALKEY_VERSION;

/// One interpreter. Its scripts see nothing of each other, and cannot change what they find.
pub(super) struct Interpreter {
    pub(super) lua: Lua,
    pub(super) shared: Arc<Shared>,
    pub(super) fields: Arc<Fields>,
    /// Lua's own `next`.
    pub(super) next: Function,
    /// The table that is shown as `server` and `redis`.
    pub(super) server: Table,
    /// The scripts by their slots. Only so much may be kept outside of Lua as its stack holds.
    scripts: Table,
    compile: Function,
    raw: Raw,
    /// Whose version `server` tells.
    compat: Option<Compat>,
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
        let scripts = lua.create_table()?;
        let globals: Table = world.raw_get("globals")?;
        let raw = Raw::new(&lua, &scripts, &globals, &world.raw_get("handle")?)?;
        add_hook(&lua, shared)?;
        lua.set_memory_limit(shared.memory_bytes_max)?;
        Ok(Self {
            shared: Arc::clone(shared),
            fields,
            next: world.raw_get("next")?,
            server,
            scripts,
            compile: world.raw_get("compile")?,
            raw,
            compat: None,
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
        self.scripts.raw_set(slot + 1, script)
    }

    /// Runs a script, and has `read` look at what it returned or raised.
    pub(super) fn run<T>(
        &self,
        slot: Slot,
        keys: Request<'_>,
        args: Request<'_>,
        read: impl FnOnce(Outcome<'_>) -> T,
    ) -> Result<T> {
        self.raw.run(slot, keys, args, &self.shared, read)
    }

    /// Frees what nothing refers to any more. Where all memory is taken, even to ask for that takes some.
    pub(super) fn collect(&self) -> Result<()> {
        self.lua.set_memory_limit(0)?;
        let collected = self.lua.gc_collect();
        self.lua.set_memory_limit(self.shared.memory_bytes_max)?;
        collected
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

/// A version as one number: 8 bits for each part.
fn version_number(version: &str) -> u32 {
    let parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    parts.fold(0, |number: u32, part: u32| number << 8 | part & 0xFF)
}

/// About a millisecond's worth.
const INSTRUCTIONS_PER_LOOK: u32 = 100_000;
/// What Lua runs first.
const PRELUDE: &str = include_str!("prelude.lua");
