//! Lua, with all that scripts find in it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::Function;
use mlua::Lua;
use mlua::LuaOptions;
use mlua::LuaString;
use mlua::Result;
use mlua::StdLib;
use mlua::Table;
use mlua::Value;
use mlua::chunk::ChunkMode;
use tailrace_storage::Compat;

use super::host;
use super::host::Shared;
use super::raised;
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
    /// What is shown as `_G`.
    pub(super) globals: Table,
    compile: Function,
    run: Function,
    clean: Function,
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
        lua.set_memory_limit(MEMORY_BYTES_MAX)?;
        Ok(Self {
            shared: Arc::clone(shared),
            fields,
            next: world.raw_get("next")?,
            server: world.raw_get("server")?,
            globals: world.raw_get("globals")?,
            compile: world.raw_get("compile")?,
            run: world.raw_get("run")?,
            clean: world.raw_get("clean")?,
            compat: None,
            lua,
        })
    }

    /// Compiles the text of a script; otherwise what is wrong with it.
    pub(super) fn compile(&self, text: &[u8]) -> Result<std::result::Result<Function, Vec<u8>>> {
        let text = self.lua.create_string(text)?;
        let (script, error): (Option<Function>, Option<LuaString>) = self.compile.call(text)?;
        Ok(script.ok_or_else(|| error.map_or_else(Vec::new, |error| error.as_bytes().to_vec())))
    }

    /// Runs a script. Gives whether it came to its end, and what it returned or raised.
    pub(super) fn run(&self, script: &Function) -> Result<(bool, Value)> {
        self.run.call(script)
    }

    /// Undoes what a script left behind where others would see it.
    pub(super) fn clean(&self) -> Result<()> {
        self.clean.call(())
    }

    /// A script begins, on a server that says it is this one.
    pub(super) fn begin(&mut self, compat: Compat) -> Result<()> {
        self.shared.is_resp3.store(false, Ordering::Relaxed);
        self.shared.watch.begin();
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

/// A version as one number: 8 bits for each part.
fn version_number(version: &str) -> u32 {
    let parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    parts.fold(0, |number: u32, part: u32| number << 8 | part & 0xFF)
}

/// What Lua runs first.
const PRELUDE: &str = include_str!("prelude.lua");
/// What all values of all scripts may take. The reference knows no limit but that of the machine; a script
/// that goes on and on is to end before the server does.
const MEMORY_BYTES_MAX: usize = 1_024 * 1_024 * 1_024;
