//! `TESTDOUBLE RESET` and `TESTDOUBLE RESTART [KEEP | LOSE | LOSE-GROUPS] [DOWN ms] [LOADING ms]`
//!
//! Makes the double what it was when it started, or restarts the server as its clients see it.
//!
//! Behaviour worth knowing:
//! - RESET brings back the data of the start (those of `--fixture` or of a space's snapshot, or none), the clock as the
//!   options or that snapshot say, the faults of the start, an empty call log that counts from 1, and the settings of the
//!   start; scripts, counters and logs are gone. Snapshots stay: they are the test's.
//! - RESET keeps connections, and what they set up for themselves: protocol, name, database, subscriptions, tracking, and
//!   what MULTI queued; watched keys change. Waits end as if their time were up. Commands that a fault or a pause holds
//!   get an error and are not executed; replies that a fault holds are sent.
//! - RESTART ends all connections but the caller's, which also goes on while the server is down: with a clock that stands
//!   still nobody else could end that. A connection that is made meanwhile is closed at once.
//! - In a cluster RESET is for all nodes, and RESTART for the one that is asked.
//! - While data are loaded, commands answer as the model's do then.
//! - RESTART keeps data (KEEP, the default), loses all or loses the groups; it always loses settings that CONFIG SET
//!   changed, scripts, subscriptions, counters and logs. There is another run id. Clock, faults, the call log and
//!   snapshots stay.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Millis;

use super::FLAGS;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::nodes;
use crate::double::outage::Fate;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|reset",
    arity: -2,
    flags: FLAGS,
    group: Group::Server,
    summary: "Makes the double what it was when it started.",
    ..Spec::of(reset)
};

pub(super) const RESTART: Spec = Spec {
    name: "testdouble|restart",
    arity: -2,
    syntax: "[fate(KEEP | LOSE | LOSE-GROUPS)] [DOWN ms:integer] [LOADING ms:integer]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Restarts the server as its clients see it.",
    ..Spec::of(restart)
};

fn reset(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    args.end()?;
    super::refuse_amid_script(call)?;
    Ok(nodes::everywhere(call, reply, |state| {
        let now = state.clock.now();
        state.reset_double(now);
    }))
}

fn restart(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let fate = fate(&mut args);
    let (mut down, mut loading) = (Millis(0), Millis(0));
    while let Some(word) = args.next() {
        let time = match word.to_ascii_lowercase().as_slice() {
            b"down" => &mut down,
            b"loading" => &mut loading,
            _ => return Err(syntax::unknown("RESTART", word, "TD RESTART HELP")),
        };
        *time = syntax::time(&mut args)?;
    }
    super::refuse_amid_script(call)?;
    let (asker, now) = (Some(call.id), call.now);
    call.state.restart(asker, fate, (down, loading), now);
    reply.ok();
    Ok(Flow::Done)
}

fn fate(args: &mut Args<'_>) -> Fate {
    let known = FATES.iter().find(|(word, _)| args.keyword(word));
    known.map_or(Fate::Keep, |(_, fate)| *fate)
}

const FATES: &[(&str, Fate)] = &[
    ("keep", Fate::Keep),
    ("lose", Fate::Lose),
    ("lose-groups", Fate::LoseGroups),
];

pub(super) const HELP: &[&str] = &[
    "RESET",
    "    Makes data, clock, faults, calls and settings what they were at the start, and ends waits. Connections stay.",
    "RESTART [KEEP|LOSE|LOSE-GROUPS] [DOWN <ms>] [LOADING <ms>]",
    "    Ends all connections but this one, takes no others for so long, answers LOADING for so long, and then keeps",
    "    the data, loses them, or loses the groups. What CONFIG SET changed is lost.",
];
