//! `TESTDOUBLE STATE [key ...]` and `TESTDOUBLE DIFF one other`
//!
//! Shows all data as text for golden files, and what differs between snapshots.
//!
//! Behaviour worth knowing:
//! - A fact a line, always in the same order: databases, keys in byte order, entries, groups, consumers, pending entries.
//!   The clock comes first; if it runs with the host's, only that is said.
//! - Times are those of the wall, in milliseconds since 1970, so that nothing changes because the clock moves.
//! - When a consumer was seen is when it last asked; that it waits counts for nothing here.
//! - With keys it shows these, of the caller's database, and no clock. A key that is missing has no facts.
//! - In a cluster both tell of the node that is asked.
//! - What `DIFF` compares are names of snapshots; `NOW` or `.` is what is there now. If all is the same, the reply is empty.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::help;
use super::snapshot;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::double::condition::text;
use crate::double::facts;
use crate::double::facts::Fact;
use crate::double::facts::Keys;
use crate::double::facts::facts;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|state",
    arity: -2,
    syntax: "[key...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Shows all data as text.",
    ..Spec::of(run)
};

pub(super) const DIFF: Spec = Spec {
    name: "testdouble|diff",
    arity: -3,
    syntax: "one other",
    flags: FLAGS,
    group: Group::Server,
    summary: "Shows what differs between two snapshots.",
    ..Spec::of(diff)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if is_help(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let names: Vec<&[u8]> = args.collect();
    let keys = match names.as_slice() {
        [] => Keys::All,
        names => Keys::Of(call.db, names),
    };
    let text = facts::text(&facts_of(call.state, b".", keys)?);
    reply.verbatim(text.as_bytes());
    Ok(Flow::Done)
}

fn diff(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if is_help(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let (one, other) = (args.bytes()?, args.bytes()?);
    args.end()?;
    let before = facts_of(call.state, one, Keys::All)?;
    let after = facts_of(call.state, other, Keys::All)?;
    let mut lines = facts::diff(&before, &after);
    if !lines.is_empty() {
        lines.insert_str(0, &format!("--- {}\n+++ {}\n", text(one), text(other)));
    }
    reply.verbatim(lines.as_bytes());
    Ok(Flow::Done)
}

fn is_help(args: Args<'_>) -> bool {
    args.len() == 1 && args.peek().is_some_and(|word| is_word(word, "help"))
}

/// The facts of a snapshot, or of what is there now.
fn facts_of<'a>(
    state: &'a State,
    name: &[u8],
    keys: Keys<'_>,
) -> Result<Vec<Fact<'a>>, CommandError> {
    let Some(double) = &state.double else {
        return Ok(Vec::new());
    };
    let seen = match snapshot::is_now(name) {
        true => double.seen(&state.store),
        false => snapshot::known(double, name)?.seen(),
    };
    Ok(facts(&seen, keys))
}

pub(super) const HELP: &[&str] = &[
    "STATE [<key> ...]",
    "    Shows all data, or these keys, as text for golden files: a fact a line, always in the same order.",
    "DIFF <snapshot>|NOW <snapshot>|NOW",
    "    Shows the lines in which two states differ.",
];
