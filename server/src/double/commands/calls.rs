//! `TESTDOUBLE CALLS [COUNT] [SINCE number] [CMD c] [KEY glob] [GROUP g] [CONSUMER c] [CLIENT c] [ERRORS] [LIMIT n]`
//!
//! Replies with the calls that match, the oldest first: the number, the time in milliseconds, the client's
//! number and name, what it said, what it heard as it stood on the wire, and the fault that struck.
//!
//! Behaviour worth knowing:
//! - `LIMIT` gives the last so many. `CALLS CLEAR` forgets all; `CALLS UNSUPPORTED` counts, by name, the
//!   commands that are not known.
//! - A call is in the log once it is answered, also if the answer was lost.

use std::collections::BTreeMap;

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ClientId;
use crate::double::calls::CallEntry;
use crate::double::calls::CallLog;
use crate::double::rules::Filter;
use crate::double::subject::Subject;
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

/// Which calls.
#[derive(Default)]
pub(super) struct CallFilter {
    filter: Filter,
    since: u64,
    only_errors: bool,
    limit: Option<usize>,
}

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
        double(call).calls.clear();
        reply.ok();
    } else if args.keyword("unsupported") {
        args.end()?;
        write_unsupported(&double(call).calls, reply);
    } else {
        let is_count = args.keyword("count");
        let filter = CallFilter::parse(args)?;
        let found = filter.find(&double(call).calls);
        match is_count {
            true => reply.unsigned(found.len() as u64),
            false => write(&found, reply),
        }
    }
    Ok(Flow::Done)
}

impl CallFilter {
    /// Reads all that is left.
    pub(super) fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        let mut wanted = Self::default();
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

    /// The calls that match, the oldest first.
    pub(super) fn find<'a>(&self, log: &'a CallLog) -> Vec<&'a CallEntry> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let newest = log.iter().rev().filter(|entry| self.matches(entry));
        let mut found: Vec<_> = newest.take(limit).collect();
        found.reverse();
        found
    }

    fn matches(&self, entry: &CallEntry) -> bool {
        let is_of = |client: ClientId, wanted: &[u8]| {
            entry.client_name == wanted || client.number.to_string().as_bytes() == wanted
        };
        let is_right_client = self
            .filter
            .client
            .as_ref()
            .is_none_or(|wanted| is_of(entry.client, wanted));
        let subject = entry
            .spec
            .map(|spec| (spec, Subject::of(spec, entry.request.as_request())));
        let is_right_call = match &subject {
            Some((spec, subject)) => self.filter.matches_call(spec, subject),
            None => self.filter.is_any_call(),
        };
        entry.number > self.since
            && is_right_client
            && is_right_call
            && (!self.only_errors || entry.is_error())
    }
}

fn write(found: &[&CallEntry], reply: &mut ReplyWriter<'_>) {
    reply.array(found.len());
    for entry in found {
        let request = entry.request.as_request();
        reply.map(7);
        reply.bulk(b"number");
        reply.unsigned(entry.number);
        reply.bulk(b"time");
        reply.unsigned(entry.at_us / 1_000);
        reply.bulk(b"client");
        reply.unsigned(entry.client.number);
        reply.bulk(b"name");
        reply.bulk(&entry.client_name);
        reply.bulk(b"call");
        reply.array(request.len());
        request.iter().for_each(|word| reply.bulk(word));
        reply.bulk(b"reply");
        reply.bulk(&entry.reply);
        reply.bulk(b"fault");
        match &entry.fault {
            None => reply.null(),
            Some(fault) => reply.bulk(fault),
        }
    }
}

fn write_unsupported(log: &CallLog, reply: &mut ReplyWriter<'_>) {
    let mut counts = BTreeMap::new();
    for entry in log.iter().filter(|entry| entry.spec.is_none()) {
        let name = entry.request.as_request().get(0).unwrap_or_default();
        *counts.entry(name.to_ascii_lowercase()).or_insert(0_u64) += 1;
    }
    reply.map(counts.len());
    for (name, count) in counts {
        reply.bulk(&name);
        reply.unsigned(count);
    }
}

pub(super) const HELP: &[&str] = &[
    "CALLS [COUNT] [SINCE <number>] [CMD <command>|@<category>] [KEY <glob>] [GROUP <group>]",
    "      [CONSUMER <consumer>] [CLIENT <name>|<id>] [ERRORS] [LIMIT <n>]",
    "    Shows or counts what clients asked, and what they heard.",
    "CALLS CLEAR | UNSUPPORTED",
    "    Forgets it; counts the commands that are not known.",
];
