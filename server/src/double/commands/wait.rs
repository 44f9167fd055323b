//! `TESTDOUBLE WAIT what TIMEOUT ms` and `TESTDOUBLE ASSERT what`
//!
//! Waits until something holds, or insists that it does now.
//!
//! Behaviour worth knowing:
//! - `TIMEOUT` is in milliseconds of the host's clock, whatever the clock of the test does.
//! - An error says what is the case instead.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Millis;
use tailrace_storage::Promise;
use tailrace_storage::Work;

use super::FLAGS;
use super::calls;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::condition::Comparison;
use crate::double::condition::Condition;
use crate::double::condition::Order;
use crate::double::condition::Place;
use crate::double::condition::Readers;
use crate::double::ledger;
use crate::double::nodes;
use crate::double::watch;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|wait",
    arity: -3,
    syntax: "condition [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Waits until something holds.",
    ..Spec::of(wait)
};

pub(super) const ASSERT: Spec = Spec {
    name: "testdouble|assert",
    arity: -3,
    syntax: "condition [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Insists that something holds.",
    ..Spec::of(assert)
};

fn wait(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let (words, patience) = split_timeout(args.rest())?;
    let condition = condition(Args::new(words, 0))?;
    if !double(call).stage.is_alone() {
        return Ok(nodes::wait(call, condition, Some(patience)));
    }
    drop(double(call).settled_calls_amid(reply.written()));
    if condition.check(call.state, call.db).is_ok() {
        reply.ok();
        return Ok(Flow::Done);
    }
    Ok(watch::wait(call, condition, patience))
}

fn assert(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args) {
        help::write(reply, HELP);
        return Ok(Flow::Done);
    }
    let condition = condition(args)?;
    if !double(call).stage.is_alone() {
        return Ok(nodes::wait(call, condition, None));
    }
    drop(double(call).settled_calls_amid(reply.written()));
    condition.check(call.state, call.db).map_err(fail)?;
    reply.ok();
    Ok(Flow::Done)
}

/// Takes `TIMEOUT ms` from the end.
fn split_timeout(words: Request<'_>) -> Result<(Request<'_>, Millis), CommandError> {
    let count = words.len().checked_sub(2).ok_or(CommandError::Syntax)?;
    let mut end = Args::new(words, count);
    if !end.keyword("timeout") {
        return Err(fail(
            "WAIT ends with TIMEOUT and milliseconds, so that a test never hangs",
        ));
    }
    let patience = syntax::number(&mut end)?;
    Ok((words.first(count), Millis(patience)))
}

/// Reads what is to hold, to the end of the arguments.
pub(super) fn condition(mut args: Args<'_>) -> Result<Condition, CommandError> {
    let what = args.bytes()?;
    let condition = match what.to_ascii_lowercase().as_slice() {
        b"blocked" => blocked(&mut args)?,
        b"drained" => Condition::Drained(place(&mut args)?),
        b"pending" => Condition::Pending(place(&mut args)?, comparison(&mut args)?),
        b"lag" => Condition::Lag(place(&mut args)?, comparison(&mut args)?),
        b"len" => Condition::Len(args.bytes()?.to_vec(), comparison(&mut args)?),
        b"entry" => Condition::Entry {
            stream: args.bytes()?.to_vec(),
            field: args.bytes()?.to_vec(),
            value: args.bytes()?.to_vec(),
        },
        b"clients" => Condition::Clients(comparison(&mut args)?),
        b"subscribed" => {
            let channel = args.bytes()?.to_vec();
            Condition::Subscribed(channel, comparison_or_some(&mut args)?)
        }
        b"calls" => {
            let (wanted, filter) = calls_condition(args)?;
            return Ok(Condition::Calls(filter, wanted));
        }
        b"held" => Condition::Held(args.bytes()?.to_vec(), comparison_or_some(&mut args)?),
        b"idle" => Condition::Idle,
        promise if ledger::promise(promise).is_some() => kept(promise, &mut args)?,
        _ => return Err(syntax::unknown("conditions", what, "TD WAIT HELP")),
    };
    args.end()?;
    Ok(condition)
}

/// `AT-LEAST-ONCE stream group` and the like; `WORKED` asks for the work, too.
fn kept(name: &[u8], args: &mut Args<'_>) -> Result<Condition, CommandError> {
    let place = place(args)?;
    let promise = match (ledger::promise(name), args.keyword("worked")) {
        (Some(Promise::AtLeastOnce(_)), true) => Promise::AtLeastOnce(Work::Noted),
        (Some(Promise::ExactlyOnce(_)), true) => Promise::ExactlyOnce(Work::Noted),
        (Some(promise), false) => promise,
        _ => return Err(CommandError::Syntax),
    };
    Ok(Condition::Promise(place, promise))
}

fn blocked(args: &mut Args<'_>) -> Result<Condition, CommandError> {
    let wanted = comparison(args)?;
    let mut readers = Readers::default();
    while let Some(word) = args.peek() {
        let field = match word.to_ascii_lowercase().as_slice() {
            b"key" => &mut readers.key,
            b"group" => &mut readers.group,
            b"consumer" => &mut readers.consumer,
            _ => return Err(CommandError::Syntax),
        };
        args.bytes()?;
        *field = Some(args.bytes()?.to_vec());
    }
    Ok(Condition::Blocked(wanted, readers))
}

/// `CALLS [op] n filter`, or just the filter for at least one.
fn calls_condition(
    mut args: Args<'_>,
) -> Result<(Comparison, crate::double::calls::CallFilter), CommandError> {
    let is_number = args
        .peek()
        .is_some_and(|word| word.iter().all(u8::is_ascii_digit) || order_of(word).is_some());
    let wanted = match is_number {
        true => comparison(&mut args)?,
        false => SOME,
    };
    Ok((wanted, calls::filter(args)?))
}

/// A stream and a group of it.
pub(super) fn place(args: &mut Args<'_>) -> Result<Place, CommandError> {
    Ok(Place {
        stream: args.bytes()?.to_vec(),
        group: args.bytes()?.to_vec(),
    })
}

/// `n`, or `>= n` and the like.
fn comparison(args: &mut Args<'_>) -> Result<Comparison, CommandError> {
    let order = args.peek().and_then(order_of);
    if order.is_some() {
        args.bytes()?;
    }
    Ok(Comparison {
        order: order.unwrap_or(Order::Equal),
        number: syntax::number(args)?,
    })
}

fn comparison_or_some(args: &mut Args<'_>) -> Result<Comparison, CommandError> {
    match args.peek() {
        None => Ok(SOME),
        Some(_) => comparison(args),
    }
}

fn order_of(word: &[u8]) -> Option<Order> {
    let known = Order::WORDS
        .iter()
        .find(|(text, _)| text.as_bytes() == word);
    known.map(|(_, order)| *order)
}

const SOME: Comparison = Comparison {
    order: Order::AtLeast,
    number: 1,
};

pub(super) const HELP: &[&str] = &[
    "WAIT <condition> TIMEOUT <real-ms>",
    "ASSERT <condition>",
    "    Waits until something holds, or insists that it does. <n> may be = n, != n, < n, <= n, > n, >= n:",
    "    BLOCKED <n> [KEY <key>] [GROUP <group>] [CONSUMER <consumer>]",
    "    DRAINED <stream> <group>, PENDING <stream> <group> <n>, LAG <stream> <group> <n>",
    "    LEN <stream> <n>, ENTRY <stream> <field> <value>",
    "    CLIENTS <n>, SUBSCRIBED <channel> [<n>], CALLS [<n>] [what TD CALLS takes]",
    "    HELD <fault> [<n>], IDLE",
    "    AT-LEAST-ONCE|EXACTLY-ONCE <stream> <group> [WORKED], NO-LOSS|NO-LEAK <stream> <group>: see LEDGER",
];
