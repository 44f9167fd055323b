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
use mlua::Value;
use mlua::VmState;
use mlua::chunk::ChunkMode;
use tailrace_storage::Compat;

use super::cache::Sha;
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
    /// What was compiled, by digest. Only so much may be kept outside of Lua as its stack holds.
    scripts: Table,
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
        let server: Table = world.raw_get("server")?;
        look_after(&lua, shared, &server)?;
        lua.set_memory_limit(MEMORY_BYTES_MAX)?;
        Ok(Self {
            shared: Arc::clone(shared),
            fields,
            next: world.raw_get("next")?,
            server,
            globals: world.raw_get("globals")?,
            scripts: lua.create_table()?,
            compile: world.raw_get("compile")?,
            run: world.raw_get("run")?,
            clean: world.raw_get("clean")?,
            compat: None,
            lua,
        })
    }

    /// Compiles the text of a script; otherwise what is wrong with it.
    pub(super) fn compile(
        &self,
        sha: &Sha,
        text: &[u8],
    ) -> Result<std::result::Result<(), Vec<u8>>> {
        let text = self.lua.create_string(text)?;
        let (script, error): (Option<Function>, Option<LuaString>) = self.compile.call(text)?;
        let Some(script) = script else {
            let error = error.map(|error| error.as_bytes().to_vec());
            return Ok(Err(error.unwrap_or_default()));
        };
        self.scripts.raw_set(self.lua.create_string(sha)?, script)?;
        Ok(Ok(()))
    }

    /// Drops a script.
    pub(super) fn forget(&self, sha: &Sha) -> Result<()> {
        self.scripts
            .raw_set(self.lua.create_string(sha)?, Value::Nil)
    }

    /// Runs a script. Gives whether it came to its end, and what it returned or raised.
    pub(super) fn run(&self, sha: &Sha) -> Result<(bool, Value)> {
        let script: Function = self.scripts.raw_get(self.lua.create_string(sha)?)?;
        self.run.call(script)
    }

    /// Undoes what a script left behind where others would see it, if its run did not get so far.
    pub(super) fn clean(&self) -> Result<()> {
        self.clean.call(())
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
///
/// Only what a run puts into `server` reaches the run, so that is called when the time is over.
fn look_after(lua: &Lua, shared: &Arc<Shared>, server: &Table) -> Result<()> {
    let watch = Arc::clone(&shared.watch);
    let server = server.clone();
    let every = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_PER_LOOK);
    lua.set_global_hook(every, move |_, _| {
        watch.check()?;
        if watch.is_over() {
            server.raw_get::<Function>(PCALL)?.call::<()>(())?;
            watch.check()?;
        }
        Ok(VmState::Continue)
    })
}

/// A version as one number: 8 bits for each part.
fn version_number(version: &str) -> u32 {
    let parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    parts.fold(0, |number: u32, part: u32| number << 8 | part & 0xFF)
}

/// The name of what runs a command and never raises an error.
pub(super) const PCALL: &str = "pcall";
/// About a millisecond's worth.
const INSTRUCTIONS_PER_LOOK: u32 = 100_000;
/// What Lua runs first.
const PRELUDE: &str = include_str!("prelude.lua");
/// What all values of all scripts may take. The reference knows no limit but that of the machine; a script
/// that goes on and on is to end before the server does.
const MEMORY_BYTES_MAX: usize = 1_024 * 1_024 * 1_024;
