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
//! - In a cluster both tell of all nodes, whichever is asked.
//! - What `DIFF` compares are names of snapshots; `NOW` or `.` is what is there now. If all is the same, the reply is empty.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::facts::Keys;
use crate::double::facts::diff_text;
use crate::double::facts::state_text;
use crate::double::nodes;
use crate::double::snapshots::NOW;
use crate::double::snapshots::check_known;
use crate::double::snapshots::is_now;
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
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let names: Vec<Vec<u8>> = args.map(<[u8]>::to_vec).collect();
    let db = call.db;
    let look = |state: &State| state.snapshot_or_now(NOW);
    nodes::tell_of_all(call, reply, look, move |nodes, reply| {
        let nodes: Vec<_> = nodes.into_iter().flatten().collect();
        let keys = match names.as_slice() {
            [] => Keys::All,
            names => Keys::Of(db, names),
        };
        reply.verbatim(state_text(&nodes, keys).as_bytes());
        Ok(())
    })
}

fn diff(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let (one, other) = (args.bytes()?.to_vec(), args.bytes()?.to_vec());
    args.end()?;
    for name in [&one, &other] {
        if !is_now(name) {
            check_known(double(call), name).map_err(fail)?;
        }
    }
    let names = (one.clone(), other.clone());
    let look = move |state: &State| {
        let one = state.snapshot_or_now(&one)?;
        Some((one, state.snapshot_or_now(&other)?))
    };
    nodes::tell_of_all(call, reply, look, move |nodes, reply| {
        let (before, after): (Vec<_>, Vec<_>) = nodes.into_iter().flatten().unzip();
        let lines = diff_text((&names.0, &before), (&names.1, &after));
        reply.verbatim(lines.as_bytes());
        Ok(())
    })
}

pub(super) const HELP: &[&str] = &[
    "STATE [<key> ...]",
    "    Shows all data, or these keys, as text for golden files: a fact a line, always in the same order.",
    "DIFF <snapshot>|NOW <snapshot>|NOW",
    "    Shows the lines in which two states differ.",
];
