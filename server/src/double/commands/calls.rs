//! `TESTDOUBLE CALLS [COUNT] [SINCE number] [CMD c] [KEY glob] [GROUP g] [CONSUMER c] [CLIENT c] [NODE n] [ERRORS] [LIMIT n]`
//!
//! Replies with the calls that match, the oldest first: the number, the time in milliseconds, the client's
//! number and name, what it said, what it heard as it stood on the wire, and the fault that struck.
//!
//! Behaviour worth knowing:
//! - `LIMIT` gives the last so many. `CALLS CLEAR` forgets all, but for what `CALLS UNSUPPORTED` counts, by
//!   name: the commands that are not known, those that scripts call included.
//! - A call is in the log once it is answered, also if the answer was lost.
//! - The log holds as many of the last calls as `calls-memory` lets it, some 10,000 small ones if nothing is said; but a load of more than
//!   100,000 a second leaves only the last 1,300 or so, and of long replies the
//!   beginning. Numbers tell whether older ones were forgotten, as ASSERT does where it counts.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::calls::CallEntry;
use crate::double::calls::CallFilter;
use crate::double::calls::CallLog;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|calls",
    arity: -2,
    syntax: "[action] [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Tells what clients asked, and what they heard.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.keyword("help") {
        args.end()?;
        help::write(reply, HELP);
    } else if args.keyword("clear") {
        args.end()?;
        double(call).settled_calls_amid(reply.written()).clear();
        reply.ok();
    } else if args.keyword("unsupported") {
        args.end()?;
        let log = double(call).settled_calls_amid(reply.written());
        write_unsupported(&log, reply);
    } else {
        let is_count = args.keyword("count");
        let filter = filter(args)?;
        let log = double(call).settled_calls_amid(reply.written());
        let found = filter.find(&log);
        match is_count {
            true => reply.unsigned(found.len() as u64),
            false => write(&found, reply),
        }
    }
    Ok(Flow::Done)
}

/// Reads which calls are meant, to the end of the arguments.
pub(super) fn filter(mut args: Args<'_>) -> Result<CallFilter, CommandError> {
    let mut wanted = CallFilter::default();
    while !args.is_empty() {
        if syntax::filter_word(&mut args, &mut wanted.filter)? {
            continue;
        }
        if args.keyword("since") {
            wanted.since = syntax::number(&mut args)?;
        } else if args.keyword("errors") {
            wanted.only_errors = true;
        } else if args.keyword("limit") {
            let limit = syntax::number(&mut args)?;
            wanted.limit = Some(usize::try_from(limit).unwrap_or(usize::MAX));
        } else {
            let word = args.bytes()?;
            return Err(syntax::unknown("calls", word, "TD CALLS HELP"));
        }
    }
    Ok(wanted)
}

fn write(found: &[CallEntry<'_>], reply: &mut ReplyWriter<'_>) {
    reply.array(found.len());
    for entry in found {
        let request = entry.request();
        let request = request.as_request();
        reply.map(7);
        reply.bulk(b"number");
        reply.unsigned(entry.number);
        reply.bulk(b"time");
        reply.unsigned(entry.at_us / 1_000);
        reply.bulk(b"client");
        reply.unsigned(entry.client.number);
        reply.bulk(b"name");
        reply.bulk(entry.client_name);
        reply.bulk(b"call");
        reply.array(request.len());
        request.iter().for_each(|word| reply.bulk(word));
        reply.bulk(b"reply");
        reply.bulk(entry.reply);
        reply.bulk(b"fault");
        match entry.fault {
            None => reply.null(),
            Some(fault) => reply.bulk(fault),
        }
    }
}

fn write_unsupported(log: &CallLog, reply: &mut ReplyWriter<'_>) {
    let counts = log.unsupported();
    reply.map(counts.len());
    for (name, count) in counts {
        reply.bulk(name);
        reply.unsigned(*count);
    }
}

pub(super) const HELP: &[&str] = &[
    "CALLS [COUNT] [SINCE <number>] [CMD <command>|@<category>] [KEY <glob>] [GROUP <group>]",
    "      [CONSUMER <consumer>] [CLIENT <name>|<id>] [NODE <n>] [ERRORS] [LIMIT <n>]",
    "    Shows or counts what clients asked, and what they heard: the last of it,",
    "    as much as calls-memory says (2mb), but 256kb of what comes as fast as only a load.",
    "CALLS CLEAR | UNSUPPORTED",
    "    Forgets it; counts the commands that are not known.",
];
