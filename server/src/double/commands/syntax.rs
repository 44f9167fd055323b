//! What a test writes of faults and of calls: `[CMD c] [KEY glob] ... BEFORE CLOSE`.

use tailrace_storage::Millis;

use super::fail;
use crate::args::Args;
use crate::args::is_word;
use crate::commands::COMMANDS;
use crate::config::WALL_MAX_MS;
use crate::double::facts;
use crate::double::pushes::KINDS;
use crate::double::rules::Action;
use crate::double::rules::CommandFilter;
use crate::double::rules::Filter;
use crate::double::rules::Rule;
use crate::double::rules::Stage;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Spec;

/// Reads a fault: its name, which calls it is for, how often it strikes, when, and what happens then.
pub(super) fn rule(mut args: Args<'_>) -> Result<Rule, CommandError> {
    let words: Vec<_> = args.rest().iter().map(facts::word).collect();
    if args.peek().is_some_and(<[u8]>::is_empty) {
        return Err(fail("a fault has a name"));
    }
    let mut rule = Rule {
        name: args.bytes()?.to_vec(),
        filter: Filter::default(),
        stage: Stage::Before,
        action: Action::Nil,
        skip: 0,
        times: Some(1),
        probability: 1.0,
        matched: 0,
        hits: 0,
        text: words.join(" "),
    };
    loop {
        if filter_word(&mut args, &mut rule.filter)? {
            continue;
        }
        let word = args.bytes()?;
        match word.to_ascii_lowercase().as_slice() {
            b"skip" => rule.skip = number(&mut args)?,
            b"times" => rule.times = times(&mut args)?,
            b"always" => rule.times = None,
            b"prob" => rule.probability = probability(&mut args)?,
            b"before" => break,
            b"after" => {
                rule.stage = Stage::After;
                break;
            }
            b"push" => {
                rule.stage = Stage::Push;
                check_push(&rule.filter)?;
                break;
            }
            _ => {
                return Err(unknown(
                    "a fault",
                    word,
                    "BEFORE, AFTER or PUSH, and what happens",
                ));
            }
        }
    }
    if rule.stage != Stage::Push {
        check_command(&rule.filter)?;
    }
    rule.action = action(&mut args, rule.stage)?;
    args.end()?;
    Ok(rule)
}

/// Reads one part of what says which calls are meant. Whether there was one.
pub(super) fn filter_word(args: &mut Args<'_>, filter: &mut Filter) -> Result<bool, CommandError> {
    let word = args.peek().unwrap_or_default().to_ascii_lowercase();
    let field = match word.as_slice() {
        b"cmd" => {
            args.bytes()?;
            filter.command = command(args.bytes()?)?;
            return Ok(true);
        }
        b"node" => {
            args.bytes()?;
            filter.node = Some(size(args)?);
            return Ok(true);
        }
        b"key" => &mut filter.key,
        b"group" => &mut filter.group,
        b"consumer" => &mut filter.consumer,
        b"client" => &mut filter.client,
        _ => return Ok(false),
    };
    args.bytes()?;
    *field = Some(args.bytes()?.to_vec());
    Ok(true)
}

fn command(text: &[u8]) -> Result<Option<CommandFilter>, CommandError> {
    if text == b"*" {
        return Ok(None);
    }
    let Some(name) = text.strip_prefix(b"@") else {
        return Ok(Some(CommandFilter::Named(text.to_ascii_lowercase())));
    };
    match Acl::of_name(name) {
        Acl::NONE => Err(unknown("a category", name, "what ACL CAT lists")),
        category => Ok(Some(CommandFilter::Category(category))),
    }
}

/// Refuses a filter that matches no push.
fn check_push(filter: &Filter) -> Result<(), CommandError> {
    let is_kind = match &filter.command {
        None => true,
        Some(CommandFilter::Named(name)) => KINDS.iter().any(|kind| is_word(name, kind)),
        Some(CommandFilter::Category(_)) => false,
    };
    if !is_kind || filter.group.is_some() || filter.consumer.is_some() {
        let kinds = KINDS.join(", ");
        return Err(fail(format!(
            "a push has a CLIENT, a KEY that is a channel or a key, and a CMD that is one of {kinds}"
        )));
    }
    Ok(())
}

fn action(args: &mut Args<'_>, stage: Stage) -> Result<Action, CommandError> {
    let word = args.bytes()?;
    match (is_word(word, "drop"), stage == Stage::Push) {
        (true, true) => return Ok(Action::Drop),
        (false, false) => {}
        _ => {
            return Err(fail(
                "DROP happens to a push, and nothing else does; use PUSH DROP",
            ));
        }
    }
    if let Some((_, error)) = ERRORS.iter().find(|(name, _)| is_word(word, name)) {
        return Ok(Action::Reply(format!("-{error}\r\n").into()));
    }
    let action = match word.to_ascii_lowercase().as_slice() {
        b"error" => Action::Reply(error(args.bytes()?)),
        b"reply" => Action::Reply(reply(args.bytes()?)?),
        b"nil" => Action::Nil,
        b"close" => Action::Close,
        b"rst" => Action::Reset,
        b"moved" => Action::Redirect("MOVED", args.bytes()?.to_vec()),
        b"ask" => Action::Redirect("ASK", args.bytes()?.to_vec()),
        b"delay" => Action::Delay(millis(args)?),
        b"hold" => Action::Hold,
        b"stall" => Action::Stall,
        b"cut" if stage == Stage::After => Action::Cut(size(args)?),
        b"drip" if stage == Stage::After => Action::Drip(size(args)?.max(1), millis(args)?),
        b"cut" | b"drip" => {
            return Err(fail(
                "before a command there is no reply to CUT or to DRIP; use AFTER",
            ));
        }
        _ => return Err(unknown("what happens", word, "what TD FAULT HELP lists")),
    };
    Ok(action)
}

/// An error is one line, so what would end it is a blank, as in errors of the reference.
fn error(text: &[u8]) -> Vec<u8> {
    let line = text.iter().map(|byte| match byte {
        b'\r' | b'\n' => b' ',
        byte => *byte,
    });
    [b"-", &*line.collect::<Vec<_>>(), b"\r\n"].concat()
}

/// Refuses a filter that matches no command that there is.
fn check_command(filter: &Filter) -> Result<(), CommandError> {
    let Some(CommandFilter::Named(name)) = &filter.command else {
        return Ok(());
    };
    let is_named = |spec: &Spec| is_word(name, spec.name);
    let is_there =
        |spec: &&Spec| is_named(spec) || spec.subcommands.iter().any(|spec| is_named(spec));
    match COMMANDS.iter().any(is_there) {
        true => Ok(()),
        false => Err(fail(format!(
            "there is no command '{}', so nothing would strike",
            String::from_utf8_lossy(name)
        ))),
    }
}

/// A reply as it stands on the wire; the end of its last line may be left out.
fn reply(text: &[u8]) -> Result<Vec<u8>, CommandError> {
    match text.first() {
        None => Err(fail("a reply has at least one byte, such as +OK")),
        Some(_) if text.ends_with(b"\r\n") => Ok(text.to_vec()),
        Some(_) => Ok([text, b"\r\n"].concat()),
    }
}

fn times(args: &mut Args<'_>) -> Result<Option<u64>, CommandError> {
    match args.keyword("always") {
        true => Ok(None),
        false => match number(args)? {
            0 => Err(fail(
                "a fault strikes at least once; leave it out, or SKIP some calls",
            )),
            times => Ok(Some(times)),
        },
    }
}

fn probability(args: &mut Args<'_>) -> Result<f64, CommandError> {
    let text = args.bytes()?;
    let value = tailrace_protocol::number::parse_f64(text).ok_or(CommandError::NotAFloat)?;
    match (0.0..=1.0).contains(&value) {
        true => Ok(value),
        false => Err(fail(format!(
            "{value} is no probability; it is from 0 to 1"
        ))),
    }
}

pub(super) fn number(args: &mut Args<'_>) -> Result<u64, CommandError> {
    let number = args.integer()?;
    u64::try_from(number).map_err(|_| fail(format!("{number} is negative")))
}

/// A length of time in milliseconds that no clock overflows by.
pub(super) fn time(args: &mut Args<'_>) -> Result<Millis, CommandError> {
    let number = args.integer()?;
    match u64::try_from(number) {
        Ok(number) if number <= WALL_MAX_MS => Ok(Millis(number)),
        _ => Err(fail(format!("{number} is not within 0 and {WALL_MAX_MS}"))),
    }
}

fn size(args: &mut Args<'_>) -> Result<usize, CommandError> {
    Ok(usize::try_from(number(args)?).unwrap_or(usize::MAX))
}

fn millis(args: &mut Args<'_>) -> Result<Millis, CommandError> {
    number(args).map(Millis)
}

/// A word that is not known where one of others was to be.
pub(super) fn unknown(what: &str, word: &[u8], wanted: &str) -> CommandError {
    let word = String::from_utf8_lossy(word);
    fail(format!("'{word}' is not known of {what}; try {wanted}"))
}

/// Errors that go by a name, as the reference words them.
const ERRORS: &[(&str, &str)] = &[
    ("loading", "LOADING Valkey is loading the dataset in memory"),
    (
        "readonly",
        "READONLY You can't write against a read only replica.",
    ),
    (
        "oom",
        "OOM command not allowed when used memory > 'maxmemory'.",
    ),
    ("clusterdown", "CLUSTERDOWN The cluster is down"),
    (
        "masterdown",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    ),
    (
        "tryagain",
        "TRYAGAIN Multiple keys request during rehashing of slot",
    ),
    (
        "busy",
        "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    ),
    ("nogroup", "NOGROUP No such key or consumer group"),
];
