//! Errors that the functions of this folder raise inside of a script.
//!
//! They travel through Lua as values of their own kind, since only those are free of a traceback and
//! may be tables in the end. What catches errors (`pcall` and the like, see `prelude.lua`) turns them
//! into what the reference's functions raise before a script sees them.

use std::fmt;

use mlua::Error;
use mlua::Lua;
use mlua::debug::Debug;

/// What is raised.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Raised {
    /// A string.
    Text(Vec<u8>),
    /// A table like the one of an error reply.
    Reply(ErrorReply),
    /// `SCRIPT KILL`: nothing in the script may catch it.
    Killed,
}

/// An error as scripts see it: a table whose field `err` is the text of the reply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ErrorReply {
    /// The text, its code first.
    pub(super) text: Vec<u8>,
    /// A command answered it, so it is in the statistics already.
    pub(super) is_counted: bool,
}

impl ErrorReply {
    /// An error of the script, not of a command.
    pub(super) fn new(text: impl Into<Vec<u8>>) -> Self {
        Self {
            text: text.into(),
            is_counted: false,
        }
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&String::from_utf8_lossy(text)),
            Self::Reply(error) => f.write_str(&String::from_utf8_lossy(&error.text)),
            Self::Killed => f.write_str(KILLED),
        }
    }
}

impl std::error::Error for Raised {}

impl From<Raised> for Error {
    fn from(raised: Raised) -> Self {
        Self::external(raised)
    }
}

impl From<ErrorReply> for Error {
    fn from(reply: ErrorReply) -> Self {
        Raised::Reply(reply).into()
    }
}

/// An error with the place in front from where the function was called that raises it.
pub(super) fn at_caller(lua: &Lua, text: impl AsRef<[u8]>) -> Error {
    let mut placed = place(lua);
    placed.extend_from_slice(text.as_ref());
    Raised::Text(placed).into()
}

/// An argument that the function `name` does not take.
pub(super) fn bad_argument(lua: &Lua, index: usize, name: &str, why: &str) -> Error {
    let is_native = |debug: &Debug<'_>| debug.source().what == "C";
    let name = match lua.inspect_stack(1, is_native) {
        // What is not Lua does not tell what it calls.
        Some(true) => "?",
        _ => name,
    };
    at_caller(lua, format!("bad argument #{index} to '{name}' ({why})"))
}

/// What a caught error stands for; `None` if it is not one of ours.
pub(super) fn find(error: &Error) -> Option<&Raised> {
    match error {
        Error::CallbackError { cause, .. } => find(cause),
        Error::ExternalError(raised) => raised.downcast_ref(),
        _ => None,
    }
}

/// What Lua says of memory that was used up, if that is the error.
pub(super) fn of_memory(error: &Error) -> Option<&str> {
    match error {
        Error::CallbackError { cause, .. } => of_memory(cause),
        Error::MemoryError(text) => Some(text),
        _ => None,
    }
}

/// Where the function was called from that runs: `user_script:1: `, or nothing if that was not Lua.
fn place(lua: &Lua) -> Vec<u8> {
    let of = |debug: &Debug<'_>| {
        let source = debug.source();
        if source.source.as_deref() == Some(PRELUDE) {
            return None;
        }
        let place = match (debug.current_line(), source.short_src) {
            (Some(line), Some(source)) => format!("{source}:{line}: "),
            _ => String::new(),
        };
        Some(place.into_bytes())
    };
    let mut level = 1;
    loop {
        match lua.inspect_stack(level, of) {
            None => return Vec::new(),
            Some(Some(place)) => return place,
            Some(None) => level += 1,
        }
    }
}

/// The source and the line that an error is reported for, which was raised at this level. To be called by
/// the handlers of errors in the prelude.
pub(super) fn origin(lua: &Lua, mut level: usize) -> Option<(String, i64)> {
    let of = |debug: &Debug<'_>| {
        let source = debug.source();
        let line = debug
            .current_line()
            .and_then(|line| i64::try_from(line).ok());
        let name = source.source.unwrap_or_default().into_owned();
        (source.what == "C", name, line.unwrap_or(-1))
    };
    // A function that is not Lua is passed once.
    let mut has_passed = false;
    let mut is_in_prelude = false;
    loop {
        let (is_native, source, line) = lua.inspect_stack(level, of)?;
        level += 1;
        if is_native && !has_passed {
            has_passed = true;
        } else if source == PRELUDE {
            is_in_prelude = true;
        } else if !is_in_prelude || source != REPLACED {
            return Some((source, line));
        }
    }
}

/// The source of a function that ended by calling another.
const REPLACED: &str = "=(tail call)";
/// The source of the prelude, which is not the script's.
pub(super) const PRELUDE: &str = "=tailrace";
/// What the caller hears of a script that was ended.
pub(super) const KILLED: &str = "ERR Script killed by user with SCRIPT KILL.";
