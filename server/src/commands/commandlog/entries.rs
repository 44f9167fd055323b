//! `COMMANDLOG GET count type`, `COMMANDLOG LEN type` and `COMMANDLOG RESET type`

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::command_log::CommandLog;
use crate::command_log::CommandLogs;
use crate::commands::slowlog;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const GET: Spec = Spec {
    name: "commandlog|get",
    arity: 4,
    syntax: "count:integer type(SLOW|LARGE-REQUEST|LARGE-REPLY)",
    flags: FLAGS,
    tips: &["request_policy:all_nodes", "nondeterministic_output"],
    group: Group::Server,
    summary: "Returns the newest entries of a command log.",
    since: "8.1.0",
    complexity: "O(N), N being the number of entries.",
    ..Spec::of(get)
};

pub(super) const LEN: Spec = Spec {
    name: "commandlog|len",
    arity: 3,
    syntax: "type(SLOW|LARGE-REQUEST|LARGE-REPLY)",
    flags: FLAGS,
    tips: &[
        "request_policy:all_nodes",
        "response_policy:agg_sum",
        "nondeterministic_output",
    ],
    group: Group::Server,
    summary: "Returns how many entries a command log has.",
    since: "8.1.0",
    ..Spec::of(len)
};

pub(super) const RESET: Spec = Spec {
    name: "commandlog|reset",
    arity: 3,
    syntax: "type(SLOW|LARGE-REQUEST|LARGE-REPLY)",
    flags: FLAGS,
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    group: Group::Server,
    summary: "Empties a command log.",
    since: "8.1.0",
    complexity: "O(N), N being the number of entries.",
    ..Spec::of(reset)
};

const FLAGS: Flags = Flags::ADMIN.and(Flags::LOADING).and(Flags::STALE);

/// The log that is asked for.
fn parse_log<'a>(
    logs: &'a mut CommandLogs,
    args: &mut Args<'_>,
) -> Result<&'a mut CommandLog, CommandError> {
    if args.keyword("slow") {
        Ok(&mut logs.slow)
    } else if args.keyword("large-request") {
        Ok(&mut logs.large_requests)
    } else if args.keyword("large-reply") {
        Ok(&mut logs.large_replies)
    } else {
        Err(ServerError::CommandLogKind.into())
    }
}

fn get(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let count = slowlog::parse_count(&mut args)?;
    let log = parse_log(&mut call.state.logs, &mut args)?;
    slowlog::write_entries(log, count, reply);
    Ok(Flow::Done)
}

fn len(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let log = parse_log(&mut call.state.logs, &mut args)?;
    reply.unsigned(log.iter().len() as u64);
    Ok(Flow::Done)
}

fn reset(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    parse_log(&mut call.state.logs, &mut args)?.clear();
    reply.ok();
    Ok(Flow::Done)
}
