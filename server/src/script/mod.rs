//! Scripts in Lua: what is known of them, and how they run.
//!
//! [`Scripts`] belongs to an engine. Its interpreter is made when the first script comes, so that a
//! server without scripts pays nothing for them. A script runs under the engine's lock like any
//! command, and its commands run as those of `EXEC` do: nobody else's come in between, and who waits
//! for a key is served once it is over.
//!
//! | file | |
//! | --- | --- |
//! | `cache.rs`, `shebang.rs` | The scripts by their digests; what their first line says |
//! | `interpreter.rs`, `prelude.lua`, `host.rs` | Lua, and the world that scripts find in it |
//! | `run.rs`, `calls.rs`, `rules.rs` | One run, the commands that it calls, and those that it may call |
//! | `raw/` | What runs most often of this, by Lua's interface in C: the only place with `unsafe` |
//! | `values.rs`, `raised.rs` | Values to replies; errors |
//! | `json/`, `msgpack.rs`, `pack.rs`, `bits.rs` | The libraries of the reference |
//! | `watch.rs`, `loan.rs` | Scripts that run for too long, and where the state is meanwhile |
//! | `arguments.rs`, `numbers.rs` | What these share |

mod arguments;
mod bits;
mod cache;
mod calls;
mod host;
mod interpreter;
mod json;
mod loan;
mod msgpack;
mod numbers;
mod pack;
mod raised;
#[expect(
    unsafe_code,
    reason = "by mlua each value that passes is counted, which made short scripts take twice as long"
)]
mod raw;
mod rules;
mod run;
mod shebang;
#[cfg(test)]
mod tests;
mod values;
mod watch;

use std::sync::Arc;

use tailrace_protocol::Request;

use self::cache::Cache;
pub(crate) use self::cache::SHA_LEN;
use self::cache::Sha;
pub(crate) use self::cache::Slot;
use self::host::Shared;
use self::interpreter::Interpreter;
pub(crate) use self::loan::Loan;
pub(crate) use self::run::Job;
pub(crate) use self::run::run;
use self::shebang::ScriptFlags;
use crate::error::ScriptError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

/// The scripts of one engine.
#[derive(Default)]
pub(crate) struct Scripts {
    /// There from the first script on, but for the time of a run.
    interpreter: Option<Box<Interpreter>>,
    cache: Cache,
    shared: Arc<Shared>,
    loan: Arc<Loan>,
    /// The script that runs, if it is over its time.
    busy: Option<Busy>,
    /// Tests of the reference let scripts call what they otherwise may not.
    pub(crate) is_deny_off: bool,
}

/// A script that is over its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Busy {
    /// It called commands that write, so it is not to end halfway.
    pub(crate) has_written: bool,
}

/// What scripts take, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScriptMemory {
    /// How many scripts are known.
    pub(crate) count: usize,
    /// Their texts and what is known of them.
    pub(crate) cache: u64,
    /// Lua with all that is in it.
    pub(crate) interpreter: u64,
}

impl Scripts {
    /// Gets a script ready, if it is not, and says where it is kept. `stays` if it was loaded and not
    /// sent along with its call.
    ///
    /// # Errors
    ///
    /// What is wrong with its text.
    pub(crate) fn load(&mut self, text: &[u8], stays: bool) -> Result<Slot, ScriptError> {
        let known = self.cache.find_text(text);
        if let Some(slot) = known.or_else(|| self.cache.find(&sha1(text))) {
            if stays {
                self.cache.keep(slot);
            }
            return Ok(slot);
        }
        let header = shebang::parse(text).map_err(ScriptError::Header)?;
        if !header.engine.eq_ignore_ascii_case(b"lua") {
            return Err(ScriptError::NoEngine(header.engine));
        }
        let interpreter = self.interpreter().map_err(|error| broken(&error))?;
        let compiled = interpreter.compile(header.code);
        let compiled = compiled.map_err(|error| broken(&error))?;
        let script = compiled.map_err(ScriptError::Compile)?;
        let slot = self.cache.insert(sha1(text), text, header.flags, stays);
        let interpreter = self.interpreter().map_err(|error| broken(&error))?;
        if let Err(error) = interpreter.keep(slot, &script) {
            self.flush();
            return Err(broken(&error));
        }
        Ok(slot)
    }

    /// Where the script with this digest is kept, if it is known.
    pub(crate) fn find(&self, digest: &[u8]) -> Option<Slot> {
        self.cache.find(digest)
    }

    /// The text of a script.
    pub(crate) fn text(&self, slot: Slot) -> Option<&[u8]> {
        self.cache.get(slot).map(|script| &*script.text)
    }

    /// The digest of a script.
    pub(crate) fn digest(&self, slot: Slot) -> Option<&[u8]> {
        self.cache.get(slot).map(|script| &script.sha[..])
    }

    /// Forgets all scripts.
    pub(crate) fn flush(&mut self) {
        self.cache.clear();
        self.interpreter = None;
    }

    /// What a call of a script may do: what the script says about itself, or else what its command
    /// does.
    pub(crate) fn flags_of_call(&self, spec: &Spec, request: Request<'_>) -> Flags {
        let text = request.get(1).unwrap_or_default();
        let flags = if spec.name.starts_with("evalsha") {
            let slot = self.find(text);
            slot.and_then(|slot| self.cache.get(slot))
                .map(|script| script.flags)
        } else {
            shebang::parse(text).ok().map(|header| header.flags)
        };
        match flags {
            Some(flags) if !flags.says_nothing => flags.of_command(spec.flags),
            _ => spec.flags,
        }
    }

    /// Where the state is while a script is over its time.
    pub(crate) fn loan(&self) -> Arc<Loan> {
        Arc::clone(&self.loan)
    }

    /// The script that runs, if it is over its time.
    pub(crate) fn busy(&self) -> Option<Busy> {
        self.busy
    }

    /// Whether a script is over its time.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Whether scripts may call a command that is not for them, for tests: not what would change the
    /// connection of the caller, or run a queue or a script within the script.
    pub(crate) fn may_call(&self, spec: &Spec) -> bool {
        let is_within = matches!(
            spec.group,
            Group::Transactions | Group::Scripting | Group::PubSub
        );
        self.is_deny_off && !is_within && !OF_CONNECTIONS.contains(&spec.name)
    }

    /// Ends the script that runs, whatever it did. Until it has noticed, nobody is told any more that
    /// the server is busy: what others ask for is answered once it is over.
    pub(crate) fn kill(&self) {
        self.shared.watch.kill();
        self.loan.recall();
    }

    /// What scripts take.
    pub(crate) fn memory(&self) -> ScriptMemory {
        let interpreter = self.interpreter.as_ref();
        ScriptMemory {
            count: self.cache.len(),
            cache: self.cache.bytes() as u64,
            interpreter: interpreter.map_or(0, |lua| lua.lua.used_memory() as u64),
        }
    }

    /// How many scripts that came with their calls had to go.
    pub(crate) fn evicted(&self) -> u64 {
        self.cache.evicted()
    }

    /// Lets the values of all scripts take only so much, from the next interpreter on.
    #[cfg(test)]
    fn limit_memory(&mut self, bytes_max: usize) {
        self.shared = Arc::new(Shared {
            memory_bytes_max: bytes_max,
            ..Shared::default()
        });
    }

    fn interpreter(&mut self) -> mlua::Result<&mut Interpreter> {
        if self.interpreter.is_none() {
            self.interpreter = Some(Box::new(Interpreter::new(&self.shared)?));
        }
        Ok(self.interpreter.as_mut().expect("it was made just now"))
    }
}

impl ScriptFlags {
    /// The flags of a command that runs such a script.
    fn of_command(self, flags: Flags) -> Flags {
        let replaced = Flags::STALE
            .and(Flags::DENYOOM)
            .and(Flags::WRITE)
            .and(Flags::MAY_REPLICATE);
        let mut flags = flags.without(replaced);
        if !self.allow_oom && !self.no_writes {
            flags = flags | Flags::DENYOOM;
        }
        if !self.no_writes {
            flags = flags | Flags::WRITE;
        }
        flags
    }
}

/// What ends or changes the caller's connection, or the server.
const OF_CONNECTIONS: [&str; 6] = ["auth", "hello", "monitor", "quit", "reset", "shutdown"];

/// Lua itself failed, which it does when its memory is used up.
fn broken(error: &mlua::Error) -> ScriptError {
    let text = error.to_string();
    ScriptError::Failed(text.lines().next().unwrap_or_default().into())
}

/// The digest of a text.
fn sha1(text: &[u8]) -> Sha {
    let digest = sha1_hex(text);
    digest
        .into_bytes()
        .try_into()
        .expect("a digest has 40 digits")
}

fn sha1_hex(text: &[u8]) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}
