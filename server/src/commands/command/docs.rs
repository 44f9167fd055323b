//! `COMMAND DOCS [command ...]`
//!
//! Replies with what people should know of some commands, or of all; one that there is not is left
//! out. A subcommand is asked for as `xgroup|create`.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::UNORDERED;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Audience;
use crate::spec::Group;
use crate::spec::Spec;
use crate::syntax;
use crate::syntax::Argument;
use crate::syntax::Kind;

pub(super) const SPEC: Spec = Spec {
    name: "command|docs",
    arity: -2,
    syntax: "[command-name...]",
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
    if args.is_empty() {
        write(&commands.all(), reply);
    } else {
        let named = args.filter_map(|name| commands.find_full(name));
        let specs: Vec<&Spec> = named.collect();
        reply.late_map(specs.len());
        write_each(&specs, reply);
    }
    Ok(Flow::Done)
}

fn write(specs: &[&Spec], reply: &mut ReplyWriter<'_>) {
    reply.map(specs.len());
    write_each(specs, reply);
}

fn write_each(specs: &[&Spec], reply: &mut ReplyWriter<'_>) {
    for spec in specs {
        reply.bulk(spec.name.as_bytes());
        write_facts(spec, reply);
    }
}

fn write_facts(spec: &Spec, reply: &mut ReplyWriter<'_>) {
    let arguments = syntax::parse(spec.syntax).expect("a test reads every command's syntax");
    let (doc_flag, deprecated_since, replaced_by) = match spec.audience {
        Audience::Everybody => (None, None, None),
        Audience::System => (Some("syscmd"), None, None),
        Audience::Old { since, replacement } => {
            (Some("deprecated"), Some(since), Some(replacement))
        }
    };
    let complexity = Some(spec.complexity).filter(|text| !text.is_empty());

    let texts = [complexity, doc_flag, deprecated_since, replaced_by];
    let lists = [
        spec.history.is_empty(),
        arguments.is_empty(),
        spec.subcommands.is_empty(),
    ];
    let present = texts.iter().flatten().count() + lists.iter().filter(|empty| !**empty).count();
    reply.map(3 + present);
    write_text("summary", spec.summary, reply);
    write_text("since", spec.since, reply);
    write_text("group", spec.group.name(), reply);
    write_if_any("complexity", complexity, reply);
    if let Some(flag) = doc_flag {
        write_flags("doc_flags", &[(true, flag)], reply);
    }
    write_if_any("deprecated_since", deprecated_since, reply);
    write_if_any("replaced_by", replaced_by, reply);
    if !spec.history.is_empty() {
        write_history(spec.history, reply);
    }
    if !arguments.is_empty() {
        write_arguments(&arguments, reply);
    }
    if !spec.subcommands.is_empty() {
        reply.bulk(b"subcommands");
        write(spec.subcommands, reply);
    }
}

fn write_history(history: &[(&str, &str)], reply: &mut ReplyWriter<'_>) {
    reply.bulk(b"history");
    reply.set(history.len());
    for (version, change) in history {
        reply.array(2);
        reply.bulk(version.as_bytes());
        reply.bulk(change.as_bytes());
    }
}

fn write_arguments(arguments: &[Argument<'_>], reply: &mut ReplyWriter<'_>) {
    reply.bulk(b"arguments");
    reply.array(arguments.len());
    for argument in arguments {
        write_argument(argument, reply);
    }
}

fn write_argument(argument: &Argument<'_>, reply: &mut ReplyWriter<'_>) {
    let name = argument.name.as_str();
    let (type_name, display, key_spec, members) = match &argument.kind {
        Kind::Token => ("pure-token", Some(name), None, None),
        Kind::Value {
            type_name,
            display,
            key_spec,
        } => (*type_name, Some(display.unwrap_or(name)), *key_spec, None),
        Kind::OneOf(members) => ("oneof", None, None, Some(members)),
        Kind::Block(members) => ("block", None, None, Some(members)),
    };
    let flags = [
        (argument.is_optional, "optional"),
        (argument.is_repeated, "multiple"),
        (argument.repeats_token, "multiple_token"),
    ];
    let has_flags = flags.iter().any(|(is_set, _)| *is_set);

    let texts = [
        display,
        argument.token,
        argument.summary,
        argument.since,
        argument.deprecated_since,
    ];
    let others = [key_spec.is_some(), has_flags, members.is_some()];
    let present = texts.iter().flatten().count() + others.iter().filter(|is| **is).count();
    reply.map(2 + present);
    write_text("name", name, reply);
    write_text("type", type_name, reply);
    write_if_any("display_text", display, reply);
    if let Some(key_spec) = key_spec {
        reply.bulk(b"key_spec_index");
        reply.integer(key_spec);
    }
    write_if_any("token", argument.token, reply);
    write_if_any("summary", argument.summary, reply);
    write_if_any("since", argument.since, reply);
    write_if_any("deprecated_since", argument.deprecated_since, reply);
    if has_flags {
        write_flags("flags", &flags, reply);
    }
    if let Some(members) = members {
        write_arguments(members, reply);
    }
}

/// Writes the flags that are set.
fn write_flags(name: &str, flags: &[(bool, &str)], reply: &mut ReplyWriter<'_>) {
    let set = flags.iter().filter(|(is_set, _)| *is_set);
    reply.bulk(name.as_bytes());
    reply.set(set.clone().count());
    for (_, flag) in set {
        reply.simple(flag);
    }
}

fn write_if_any(name: &str, text: Option<&str>, reply: &mut ReplyWriter<'_>) {
    if let Some(text) = text {
        write_text(name, text, reply);
    }
}

fn write_text(name: &str, text: &str, reply: &mut ReplyWriter<'_>) {
    reply.bulk(name.as_bytes());
    reply.bulk(text.as_bytes());
}
