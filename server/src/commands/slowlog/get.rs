//! `SLOWLOG GET [count]`
//!
//! Replies with the newest entries; -1 means all.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::command_log::CommandLog;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "slowlog|get",
    arity: -2,
    syntax: "[count:integer]",
    flags: FLAGS,
    tips: &["request_policy:all_nodes", "nondeterministic_output"],
    group: Group::Server,
    summary: "Returns the newest entries of the slow log.",
    since: "2.2.12",
    history: &[("4.0.0", "Shows the address and the name of the client.")],
    complexity: "O(N), N being the number of entries.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.len() > 1 {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }
    let count = match args.is_empty() {
        true => COUNT_DEFAULT,
        false => parse_count(&mut args)?,
    };

    write_entries(&call.state.logs.slow, count, reply);
    Ok(Flow::Done)
}

/// Reads how many entries are wanted.
pub(in crate::commands) fn parse_count(args: &mut Args<'_>) -> Result<usize, CommandError> {
    match args.integer_or(ServerError::CommandLogCount.into())? {
        -1 => Ok(usize::MAX),
        count => usize::try_from(count).map_err(|_| ServerError::CommandLogCount.into()),
    }
}

/// Writes the newest entries.
pub(in crate::commands) fn write_entries(
    log: &CommandLog,
    count: usize,
    reply: &mut ReplyWriter<'_>,
) {
    let entries = log.iter().take(count);
    reply.array(entries.len());
    for entry in entries {
        reply.array(6);
        reply.unsigned(entry.id);
        reply.unsigned(entry.at.to_seconds());
        reply.unsigned(entry.value);
        reply.array(entry.args.len());
        for arg in &entry.args {
            reply.bulk(arg);
        }
        reply.bulk(entry.addr.as_bytes());
        reply.bulk(&entry.name);
    }
}

const COUNT_DEFAULT: usize = 10;
