//! `COMMANDLOG GET count type`, `COMMANDLOG LEN type` and `COMMANDLOG RESET type`

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::command_log::CommandLog;
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

/// What a command was logged for.
enum Kind {
    Slow,
    /// A large request, or a large reply.
    Large,
}

impl Kind {
    fn parse(args: &mut Args<'_>) -> Result<Self, CommandError> {
        if args.keyword("slow") {
            Ok(Self::Slow)
        } else if args.keyword("large-request") || args.keyword("large-reply") {
            Ok(Self::Large)
        } else {
            Err(ServerError::CommandLogKind.into())
        }
    }
}

fn get(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let count = slowlog::parse_count(&mut args)?;
    let log = match Kind::parse(&mut args)? {
        Kind::Slow => &call.state.slow_log,
        Kind::Large => &CommandLog::default(),
    };
    slowlog::write_entries(log, count, reply);
    Ok(Flow::Done)
}

fn len(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let len = match Kind::parse(&mut args)? {
        Kind::Slow => call.state.slow_log.iter().len(),
        Kind::Large => 0,
    };
    reply.unsigned(len as u64);
    Ok(Flow::Done)
}

fn reset(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    match Kind::parse(&mut args)? {
        Kind::Slow => call.state.slow_log.clear(),
        Kind::Large => {}
    }
    reply.ok();
    Ok(Flow::Done)
}
