//! Makes commands out of what the server says of their arguments, so that a new command is fuzzed without a line here.

use std::sync::LazyLock;

use tailrace_server::COMMANDS;
use tailrace_server::spec::Spec;
use tailrace_server::syntax;
use tailrace_server::syntax::Argument;
use tailrace_server::syntax::Kind;

use super::bytes::Bytes;
use super::words;

/// A command, its name first.
pub(super) type Words = Vec<Vec<u8>>;

/// A command, its arguments mostly as its syntax says.
pub(super) fn command(bytes: &mut Bytes<'_>) -> Words {
    let Forms { all, frequent } = &*FORMS;
    let form = match bytes.next() {
        choice @ 0..=191 => &all[frequent[usize::from(choice) % frequent.len()]],
        _ => {
            let choice = usize::from(bytes.next()) + usize::from(bytes.next());
            &all[choice % all.len()]
        }
    };
    let mut words: Words = form
        .spec
        .name
        .split('|')
        .map(|part| part.as_bytes().to_vec())
        .collect();
    let shape = bytes.next();
    if !form.arguments.is_empty() && shape < 240 {
        row(&form.arguments, bytes, &mut words);
    } else {
        for _ in 0..bytes.below(6) {
            words.push(words::word("string", "", bytes));
        }
    }
    match shape {
        // One more or one less.
        230..=234 => words.push(words::word("string", "", bytes)),
        235..=239 => drop(words.pop()),
        _ => {}
    }
    words
}

struct Form {
    spec: &'static Spec,
    arguments: Vec<Argument<'static>>,
}

struct Forms {
    all: Vec<Form>,
    /// Places in `all` of what is to come most often.
    frequent: Vec<usize>,
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let specs = COMMANDS
        .iter()
        .flat_map(|spec| [*spec].into_iter().chain(spec.subcommands.iter().copied()))
        // It would look for other servers.
        .filter(|spec| spec.name != "migrate");
    let all: Vec<Form> = specs
        .map(|spec| Form {
            spec,
            arguments: syntax::parse(spec.syntax).unwrap_or_default(),
        })
        .collect();
    let place = |name: &&str| {
        let found = all.iter().position(|form| form.spec.name == *name);
        found.expect("a frequent command is a command")
    };
    let frequent = FREQUENT.iter().map(place).collect();
    Forms { all, frequent }
});

/// What a server of streams is for, and what makes others wait, leave and lose.
const FREQUENT: &[&str] = &[
    "xadd",
    "xadd",
    "xadd",
    "xadd",
    "xgroup|create",
    "xgroup|create",
    "xreadgroup",
    "xreadgroup",
    "xreadgroup",
    "xread",
    "xread",
    "xack",
    "xack",
    "xdel",
    "xtrim",
    "xclaim",
    "xclaim",
    "xautoclaim",
    "xautoclaim",
    "xpending",
    "xrange",
    "xrevrange",
    "xsetid",
    "xgroup|setid",
    "xgroup|delconsumer",
    "xgroup|createconsumer",
    "xgroup|destroy",
    "xinfo|stream",
    "multi",
    "exec",
    "exec",
    "discard",
    "watch",
    "subscribe",
    "psubscribe",
    "unsubscribe",
    "publish",
    "set",
    "get",
    "incrbyfloat",
    "append",
    "setrange",
    "del",
    "expire",
    "pexpireat",
    "persist",
    "rename",
    "copy",
    "move",
    "select",
    "swapdb",
    "flushall",
    "hello",
    "client|unblock",
    "client|kill",
    "client|pause",
    "client|unpause",
    "client|reply",
    "config|set",
    "reset",
    "monitor",
    "scan",
    "debug",
    "wait",
    "eval",
    "eval",
    "evalsha",
    "client|tracking",
];

fn row(arguments: &[Argument<'_>], bytes: &mut Bytes<'_>, words: &mut Words) {
    for argument in arguments {
        if argument.is_optional && bytes.next() & 1 == 0 {
            continue;
        }
        let times = match argument.is_repeated {
            true => [1, 1, 1, 1, 2, 2, 3, 5][bytes.below(8)],
            false => 1,
        };
        for time in 0..times {
            if let Some(token) = argument.token
                && (time == 0 || argument.repeats_token)
            {
                words.push(token.as_bytes().to_vec());
            }
            one(argument, bytes, words);
        }
    }
}

fn one(argument: &Argument<'_>, bytes: &mut Bytes<'_>, words: &mut Words) {
    match &argument.kind {
        Kind::Token => {}
        Kind::Value { type_name, .. } => words.push(words::word(type_name, &argument.name, bytes)),
        Kind::OneOf(choices) => row(&choices[bytes.below(choices.len())..][..1], bytes, words),
        Kind::Block(arguments) => row(arguments, bytes, words),
    }
}
