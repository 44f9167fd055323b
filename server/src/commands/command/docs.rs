//! `COMMAND DOCS [command ...]`
//!
//! Replies with what people should know of some commands, or of all; one that there is not is left
//! out. A subcommand is asked for as `xgroup|create`.
//!
//! Not there yet: the arguments, and the history.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::UNORDERED;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command|docs",
    arity: -2,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    tips: UNORDERED,
    group: Group::Server,
    summary: "Says in words what some commands do, or all.",
    since: "7.0.0",
    complexity: "O(N), N being the number of commands.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let commands = &call.state.commands;
    let specs: Vec<&Spec> = if args.is_empty() {
        commands.all()
    } else {
        args.filter_map(|name| commands.find_full(name)).collect()
    };
    write(&specs, reply);
    Ok(Flow::Done)
}

fn write(specs: &[&Spec], reply: &mut ReplyWriter<'_>) {
    reply.map(specs.len());
    for spec in specs {
        reply.bulk(spec.name.as_bytes());
        reply.map(4 + usize::from(!spec.subcommands.is_empty()));
        let facts = [
            ("summary", spec.summary),
            ("since", spec.since),
            ("group", spec.group.name()),
            ("complexity", spec.complexity),
        ];
        for (name, text) in facts {
            reply.bulk(name.as_bytes());
            reply.bulk(text.as_bytes());
        }
        if !spec.subcommands.is_empty() {
            reply.bulk(b"subcommands");
            write(spec.subcommands, reply);
        }
    }
}
