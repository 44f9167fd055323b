//! `TESTDOUBLE`, or `TD` for short: how a test holds the server.
//!
//! Behaviour worth knowing:
//! - It is never held back, refused by a fault or shown to monitors, and COMMAND does not list it.
//! - It is refused in MULTI and in scripts.
//! - An error says what the state is that makes it one.

mod calls;
mod clock;
mod cluster;
pub(crate) mod fault;
mod fixture;
mod help;
mod kill;
mod ledger;
mod pause;
mod reset;
mod snapshot;
mod space;
mod state;
mod syntax;
mod wait;

use tailrace_protocol::OwnedRequest;

pub(crate) use self::cluster::NO_CLUSTER;
use crate::args::Args;
use crate::call::Call;
use crate::double::Double;
use crate::double::calls::CallFilter;
use crate::double::condition::Condition;
use crate::double::rules::Rule;
use crate::error::CommandError;
use crate::spec::Audience;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

/// The command, by its long name.
pub(crate) static TESTDOUBLE: Spec = Spec {
    group: Group::Server,
    summary: "Holds the server for a test.",
    audience: Audience::System,
    flags: FLAGS,
    ..Spec::container(
        "testdouble",
        &[
            &wait::ASSERT,
            &calls::SPEC,
            &clock::SPEC,
            &cluster::SPEC,
            &state::DIFF,
            &fault::SPEC,
            &fixture::SPEC,
            &help::SPEC,
            &kill::SPEC,
            &ledger::SPEC,
            &pause::PAUSE,
            &fault::RELEASE,
            &reset::SPEC,
            &reset::RESTART,
            &snapshot::SPEC,
            &state::SPEC,
            &pause::RESUME,
            &space::SPEC,
            &wait::SPEC,
        ],
    )
};

/// What all have in common.
const FLAGS: Flags = Flags::DOUBLE
    .and(Flags::ADMIN)
    .and(Flags::NOSCRIPT)
    .and(Flags::NO_MULTI)
    .and(Flags::LOADING)
    .and(Flags::STALE)
    .and(Flags::ALLOW_BUSY)
    .and(Flags::SKIP_MONITOR)
    .and(Flags::SKIP_COMMANDLOG);

/// The command of this name, in any case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Spec> {
    let names: [&[u8]; 2] = [b"testdouble", b"td"];
    let is_it = names.iter().any(|known| name.eq_ignore_ascii_case(known));
    is_it.then_some(&TESTDOUBLE)
}

/// An error of one of these commands, with a word about where to read on if it says little by itself.
#[cold]
pub(crate) fn hinted(error: CommandError, spec: &'static Spec) -> CommandError {
    if !matches!(
        error,
        CommandError::Arity(_)
            | CommandError::Syntax
            | CommandError::NotAnInteger
            | CommandError::NotAFloat
    ) {
        return error;
    }
    let text = error.to_string();
    let text = text.strip_prefix("ERR ").unwrap_or(&text);
    match spec.subcommands.is_empty() {
        true => {
            let name = spec.short_name().to_ascii_uppercase();
            fail(format!("{text}; try TD {name} HELP"))
        }
        false => fail(format!("{text}; try TD HELP")),
    }
}

/// Reads a fault as FAULT ADD does; if it makes no sense, why.
pub(crate) fn read_rule(words: &[Vec<u8>]) -> Result<Rule, String> {
    read(words, syntax::rule)
}

/// Reads what is to hold as WAIT does; if it makes no sense, why.
pub(crate) fn read_condition(words: &[Vec<u8>]) -> Result<Condition, String> {
    read(words, wait::condition)
}

/// Reads which calls are meant as CALLS does; if it makes no sense, why.
pub(crate) fn read_calls(words: &[Vec<u8>]) -> Result<CallFilter, String> {
    read(words, calls::filter)
}

fn read<T>(
    words: &[Vec<u8>],
    read: impl FnOnce(Args<'_>) -> Result<T, CommandError>,
) -> Result<T, String> {
    let request: OwnedRequest = words.iter().collect();
    read(Args::new(request.as_request(), 0)).map_err(|error| {
        let error = error.to_string();
        error.strip_prefix("ERR ").unwrap_or(&error).to_owned()
    })
}

/// What a test holds.
fn double<'a>(call: &'a mut Call<'_>) -> &'a mut Double {
    call.state
        .double
        .as_mut()
        .expect("the command is known to a double only")
}

/// Refuses what would see or change data amid a script that is over its time.
fn refuse_amid_script(call: &Call<'_>) -> Result<(), CommandError> {
    match call.state.scripts.is_busy() {
        true => Err(fail(BUSY_SCRIPT)),
        false => Ok(()),
    }
}

/// Why data are not looked at or changed amid a script.
pub(crate) const BUSY_SCRIPT: &str = "a script is over its time; SCRIPT KILL ends it";

/// An error with words of its own.
fn fail(reason: impl Into<String>) -> CommandError {
    CommandError::Double(reason.into())
}
