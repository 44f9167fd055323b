//! Errors of the commands on scripts.

use tailrace_storage::Compat;

use crate::args::text;

/// Why a script did not run, or a command on scripts failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ScriptError {
    /// No script of this digest is known.
    NoScript,
    /// As [`Self::NoScript`], in the words of Redis.
    NoScriptOfRedis,
    /// There are fewer arguments than keys.
    TooManyKeys,
    /// A negative number of keys.
    NegativeKeys,
    /// The first line of the script, in which it says what it does, is wrong.
    Header(Vec<u8>),
    /// The script is not for Lua.
    NoEngine(Vec<u8>),
    /// The script is not Lua.
    Compile(Vec<u8>),
    /// A script that may write was called as one that may not.
    WritesUnderReadOnly,
    /// Memory is used up, and the script does not say that it runs all the same.
    OutOfMemory,
    /// Lua itself failed.
    Failed(Vec<u8>),
    /// `SCRIPT FLUSH` takes something else.
    FlushMode,
    /// `SCRIPT KILL` while no script runs.
    NotBusy,
    /// A script is over its time.
    Busy,
    /// As [`Self::Busy`], in the words of Redis.
    BusyOfRedis,
    /// `SCRIPT KILL` of a script that has written.
    Unkillable,
    /// `SCRIPT DEBUG` takes something else.
    DebugMode,
    /// `SCRIPT DEBUG` has replies before it that have not left.
    DebugInPipeline,
    /// There is no such engine to debug scripts of.
    NoEngineToDebug(Vec<u8>),
    /// Scripts cannot be debugged.
    NoDebugger,
}

impl ScriptError {
    /// No script of a digest is known, on a server that answers like this one.
    pub(crate) fn no_script(compat: Compat) -> Self {
        match compat {
            Compat::Valkey => Self::NoScript,
            Compat::Redis => Self::NoScriptOfRedis,
        }
    }

    /// A script is over its time, on a server that answers like this one.
    pub(crate) fn busy(compat: Compat) -> Self {
        match compat {
            Compat::Valkey => Self::Busy,
            Compat::Redis => Self::BusyOfRedis,
        }
    }

    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        match self {
            Self::Header(what) => [b"ERR ", text(what)].concat(),
            Self::NoEngine(name) => {
                [b"ERR Could not find scripting engine '", text(name), b"'"].concat()
            }
            Self::Compile(what) => {
                let before = b"ERR Error compiling script (new function): ";
                [before, text(what)].concat()
            }
            Self::Failed(what) => [b"ERR Error running script, ", text(what)].concat(),
            Self::NoEngineToDebug(name) => {
                let before = b"ERR No scripting engine found with name '";
                [before, text(name), b"' to enable debug"].concat()
            }
            fixed => fixed.fixed_text().into(),
        }
    }

    /// The texts that repeat nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::NoScript => "NOSCRIPT No matching script.",
            Self::NoScriptOfRedis => "NOSCRIPT No matching script. Please use EVAL.",
            Self::TooManyKeys => "ERR Number of keys can't be greater than number of args",
            Self::NegativeKeys => "ERR Number of keys can't be negative",
            Self::WritesUnderReadOnly => {
                "ERR Can not execute a script with write flag using *_ro command."
            }
            Self::OutOfMemory => {
                "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"
            }
            Self::FlushMode => "ERR SCRIPT FLUSH only support SYNC|ASYNC option",
            Self::NotBusy => "NOTBUSY No scripts in execution right now.",
            Self::Busy => {
                "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
            }
            Self::BusyOfRedis => {
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
            }
            Self::Unkillable => {
                "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
            }
            Self::DebugInPipeline => "ERR SCRIPT DEBUG must be called outside a pipeline",
            Self::DebugMode => "ERR Use SCRIPT DEBUG YES/SYNC/NO",
            Self::NoDebugger => {
                "ERR The scripting engine 'LUA' does not support interactive script debugging"
            }
            Self::Header(_)
            | Self::NoEngine(_)
            | Self::Compile(_)
            | Self::Failed(_)
            | Self::NoEngineToDebug(_) => unreachable!("these repeat something"),
        }
    }
}
