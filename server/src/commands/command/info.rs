//! `COMMAND INFO [command ...]`
//!
//! Replies with ten facts of each command, or of all commands; null for one that there is not. A
//! subcommand is asked for as `xgroup|create`.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::UNORDERED;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::command_table::CommandTable;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command|info",
    arity: -2,
    syntax: "[command-name...]",
    flags: FLAGS,
    acl: Acl::CONNECTION,
    tips: UNORDERED,
    group: Group::Server,
    summary: "Describes some commands, or all.",
    since: "2.8.13",
    history: &[("7.0.0", "Without a name it tells of all commands.")],
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
        write_all(commands, reply);
        return Ok(Flow::Done);
    }
    reply.array(args.len());
    for name in args {
        match commands.find_full(name) {
            Some(spec) => write(spec, reply),
            None => reply.null(),
        }
    }
    Ok(Flow::Done)
}

/// Describes every command.
pub(super) fn write_all(commands: &CommandTable, reply: &mut ReplyWriter<'_>) {
    let specs = commands.all();
    reply.array(specs.len());
    for spec in specs {
        write(spec, reply);
    }
}

fn write(spec: &Spec, reply: &mut ReplyWriter<'_>) {
    reply.array(10);
    reply.bulk(spec.name.as_bytes());
    reply.integer(i64::from(spec.arity));
    let flags = Flags::NAMES.iter();
    write_statuses(flags, |(flag, _)| spec.flags.has(*flag), "", reply);
    let range = spec.key_range();
    reply.integer(range.first);
    reply.integer(range.last);
    reply.integer(range.step);
    let (names, acl) = (Acl::NAMES.iter(), spec.categories());
    write_statuses(names, |(category, _)| acl.has(*category), "@", reply);
    reply.set(spec.tips.len());
    for tip in spec.tips {
        reply.bulk(tip.as_bytes());
    }
    reply.set(spec.keys.len());
    for keys in spec.keys {
        write_key_spec(keys, reply);
    }
    reply.array(spec.subcommands.len());
    for subcommand in spec.subcommands {
        write(subcommand, reply);
    }
}

/// Writes the names of those that `is_in` says are in a set.
fn write_statuses<'a, T: 'a>(
    names: impl Iterator<Item = &'a (T, &'static str)> + Clone,
    is_in: impl Fn(&(T, &'static str)) -> bool,
    prefix: &str,
    reply: &mut ReplyWriter<'_>,
) {
    let present = names.filter(|name| is_in(name));
    reply.set(present.clone().count());
    for (_, name) in present {
        reply.simple(&format!("{prefix}{name}"));
    }
}

/// Writes the flags of a key spec, or of a key.
pub(super) fn write_key_flags(flags: &[&str], reply: &mut ReplyWriter<'_>) {
    reply.set(flags.len());
    for flag in flags {
        reply.simple(flag);
    }
}

fn write_key_spec(spec: &KeySpec, reply: &mut ReplyWriter<'_>) {
    reply.map(3 + usize::from(spec.notes.is_some()));
    if let Some(notes) = spec.notes {
        reply.bulk(b"notes");
        reply.bulk(notes.as_bytes());
    }
    reply.bulk(b"flags");
    write_key_flags(spec.flags, reply);
    reply.bulk(b"begin_search");
    match spec.begin {
        Begin::Index(index) => write_rule("index", &[("index", Field::count(index))], reply),
        Begin::Keyword(word, from) => {
            let fields = [
                ("keyword", Field::Word(word)),
                ("startfrom", Field::Number(from)),
            ];
            write_rule("keyword", &fields, reply);
        }
        Begin::Unknown => write_rule("unknown", &[], reply),
    }
    reply.bulk(b"find_keys");
    match spec.find {
        Find::Range { last, step, limit } => {
            let fields = [
                ("lastkey", Field::Number(last)),
                ("keystep", Field::count(step)),
                ("limit", Field::Number(limit)),
            ];
            write_rule("range", &fields, reply);
        }
        Find::Number {
            number_at,
            first,
            step,
        } => {
            let fields = [
                ("keynumidx", Field::count(number_at)),
                ("firstkey", Field::count(first)),
                ("keystep", Field::count(step)),
            ];
            write_rule("keynum", &fields, reply);
        }
        Find::Unknown => write_rule("unknown", &[], reply),
    }
}

enum Field {
    Number(i64),
    Word(&'static str),
}

impl Field {
    fn count(count: usize) -> Self {
        Self::Number(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

fn write_rule(kind: &str, fields: &[(&str, Field)], reply: &mut ReplyWriter<'_>) {
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(kind.as_bytes());
    reply.bulk(b"spec");
    reply.map(fields.len());
    for (name, field) in fields {
        reply.bulk(name.as_bytes());
        match field {
            Field::Number(number) => reply.integer(*number),
            Field::Word(word) => reply.bulk(word.as_bytes()),
        }
    }
}
