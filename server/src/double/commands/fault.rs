//! `TESTDOUBLE FAULT ADD | LIST | DEL | CLEAR | HITS | LOAD ...` and `TESTDOUBLE RELEASE name [count]`
//!
//! Puts faults in: errors, lost replies, broken connections, delays.
//!
//! Behaviour worth knowing:
//! - A fault strikes once unless TIMES or ALWAYS says otherwise. Of several that match, the first strikes.
//! - BEFORE, the command is not executed. AFTER, it was, and the fault is about the reply.
//! - Who is kept back by DELAY, HOLD, STALL or DRIP waits, and what it sent behind with it.
//! - A fault that is taken out lets go what it keeps back.

use std::cell::Cell;

use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::config::split_option;
use crate::double::cluster;
use crate::double::jobs::Outcome;
use crate::double::nodes;
use crate::double::rules::Action;
use crate::double::rules::Rule;
use crate::double::rules::Rules;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|fault",
    arity: -3,
    syntax: "action [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Puts faults in, and takes them out.",
    ..Spec::of(run)
};

pub(super) const RELEASE: Spec = Spec {
    name: "testdouble|release",
    arity: -3,
    syntax: "name [count:integer]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Lets go what a fault keeps back.",
    ..Spec::of(release)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let action = args.bytes()?;
    match action.to_ascii_lowercase().as_slice() {
        b"help" => {
            args.end()?;
            help::write(reply, HELP);
        }
        b"add" => {
            let rule = syntax::rule(args)?;
            check_node(call.state, &rule).map_err(fail)?;
            double(call).stage.rules.lock().add(rule);
            reply.ok();
        }
        b"load" => {
            let rules = load(args.bytes()?)?;
            args.end()?;
            let checked = rules
                .iter()
                .try_for_each(|rule| check_node(call.state, rule));
            checked.map_err(fail)?;
            reply.unsigned(rules.len() as u64);
            let mut all = double(call).stage.rules.lock();
            rules.into_iter().for_each(|rule| all.add(rule));
        }
        b"list" => {
            args.end()?;
            list(call.state, reply);
        }
        b"hits" => {
            let name = args.bytes()?;
            args.end()?;
            let rules = double(call).stage.rules.lock();
            reply.unsigned(known(&rules, name)?.hits);
        }
        b"del" => {
            let name = args.bytes()?;
            args.end()?;
            known(&double(call).stage.rules.lock(), name)?;
            return Ok(take_out(call, vec![name.to_vec()], reply));
        }
        b"clear" => {
            args.end()?;
            let names = names(&double(call).stage.rules.lock());
            return Ok(take_out(call, names, reply));
        }
        _ => return Err(syntax::unknown("FAULT", action, "TD FAULT HELP")),
    }
    Ok(Flow::Done)
}

fn release(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if help::is_asked(args)
        && double(call)
            .stage
            .rules
            .lock()
            .get(args.peek().unwrap_or_default())
            .is_none()
    {
        help::write(reply, &HELP[HELP.len() - 2..]);
        return Ok(Flow::Done);
    }
    let name = args.bytes()?;
    let count = match args.is_empty() {
        true => usize::MAX,
        false => usize::try_from(syntax::number(&mut args)?).unwrap_or(usize::MAX),
    };
    args.end()?;
    known(&double(call).stage.rules.lock(), name)?;
    if !double(call).stage.is_alone() {
        let name = name.to_vec();
        let left = Cell::new(count);
        let release = move |state: &mut State, now| {
            let released = state.release(&name, left.get(), now);
            left.set(left.get() - released);
            released
        };
        return Ok(nodes::on_each(call, release, Outcome::Count));
    }
    let released = call.state.release(name, count, call.now);
    reply.unsigned(released as u64);
    Ok(Flow::Done)
}

/// Refuses a fault for a node that there is not, or that sends clients to one.
pub(crate) fn check_node(state: &State, rule: &Rule) -> Result<(), String> {
    let view = state.cluster.as_ref().map(|cluster| cluster.view());
    let last = view.map_or(0, |view| view.nodes.len() - 1);
    if let Some(node) = rule.filter.node.filter(|node| *node > last) {
        return Err(match last {
            0 => format!("there is no node '{node}'; the only one is 0"),
            last => format!("there is no node '{node}'; nodes are 0 to {last}"),
        });
    }
    let Action::Redirect(word, node) = &rule.action else {
        return Ok(());
    };
    let is_known = view.is_some_and(|view| cluster::find(view, node).is_some());
    if node.contains(&b':') || is_known {
        return Ok(());
    }
    let node = String::from_utf8_lossy(node);
    Err(format!(
        "there is no node '{node}'; {word} takes the number or id of a node of this cluster, or host:port"
    ))
}

/// Reads several faults, one in each line; lines that are empty or begin with `#` say nothing.
pub(crate) fn load(script: &[u8]) -> Result<Vec<Rule>, CommandError> {
    let lines = script.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty() && line[0] != b'#');
    lines
        .map(|(at, line)| {
            let words = split_option(line.trim_ascii())
                .map_err(|_| fail(format!("line {}: unbalanced quotes", at + 1)))?;
            let request: OwnedRequest = words.iter().collect();
            syntax::rule(Args::new(request.as_request(), 0)).map_err(|error| {
                let error = error.to_string();
                let reason = error.strip_prefix("ERR ").unwrap_or(&error);
                fail(format!("line {}: {reason}", at + 1))
            })
        })
        .collect()
}

/// Takes faults out, and lets go what they keep back, on whichever node.
fn take_out(call: &mut Call<'_>, names: Vec<Vec<u8>>, reply: &mut ReplyWriter<'_>) -> Flow {
    let mut rules = double(call).stage.rules.lock();
    names.iter().for_each(|name| {
        rules.remove(name);
    });
    drop(rules);
    let release = move |state: &mut State, now| {
        let released = names.iter();
        released
            .map(|name| state.release(name, usize::MAX, now))
            .sum()
    };
    if !double(call).stage.is_alone() {
        return nodes::on_each(call, release, |_| Outcome::Ok);
    }
    let _: usize = release(call.state, call.now);
    reply.ok();
    Flow::Done
}

fn names(rules: &Rules) -> Vec<Vec<u8>> {
    rules.iter().map(|rule| rule.name.clone()).collect()
}

fn known<'a>(rules: &'a Rules, name: &[u8]) -> Result<&'a Rule, CommandError> {
    rules.get(name).ok_or_else(|| {
        let names = names(rules);
        let names: Vec<_> = names
            .iter()
            .map(|name| String::from_utf8_lossy(name))
            .collect();
        let name = String::from_utf8_lossy(name);
        fail(match names.as_slice() {
            [] => format!("there is no fault '{name}', and no other"),
            names => format!(
                "there is no fault '{name}'; there are: {}",
                names.join(", ")
            ),
        })
    })
}

fn list(state: &State, reply: &mut ReplyWriter<'_>) {
    let Some(double) = &state.double else {
        return reply.array(0);
    };
    let rules = double.stage.rules.lock();
    reply.array(rules.iter().len());
    for rule in rules.iter() {
        reply.map(5);
        reply.bulk(b"name");
        reply.bulk(&rule.name);
        reply.bulk(b"fault");
        reply.bulk(rule.text.as_bytes());
        reply.bulk(b"matched");
        reply.unsigned(rule.matched);
        reply.bulk(b"hits");
        reply.unsigned(rule.hits);
        reply.bulk(b"held");
        reply.unsigned(double.held.count_of(&rule.name) as u64);
    }
}

pub(super) const HELP: &[&str] = &[
    "FAULT ADD <name> [CMD <command>|@<category>|*] [KEY <glob>] [GROUP <group>] [CONSUMER <consumer>]",
    "          [CLIENT <name>|<id>] [NODE <n>] [SKIP <n>] [TIMES <n>|ALWAYS] [PROB <p>]",
    "          BEFORE|AFTER|PUSH <what>",
    "    Nodes of a cluster count from 0, in the order of the first line that the server said.",
    "    Once, or so often, something happens to commands that match:",
    "    ERROR <text>, LOADING, READONLY, OOM, CLUSTERDOWN, MASTERDOWN, TRYAGAIN, BUSY, NOGROUP: an error.",
    "    REPLY <resp>, NIL, MOVED <node>|<host:port>, ASK <node>|<host:port>: another reply.",
    "    CLOSE, RST: the connection ends, or breaks. CUT <n>: it ends behind n bytes of the reply.",
    "    DELAY <ms>, HOLD, STALL, DRIP <bytes> <ms>: it takes its time, until RELEASE, for ever, or bit by bit.",
    "    PUSH DROP: what is pushed to a client is lost. CMD is message, pmessage, smessage or invalidate then,",
    "    and KEY a channel or a key.",
    "FAULT LIST | DEL <name> | CLEAR | HITS <name> | LOAD <lines>",
    "    Shows faults, takes them out, says how often one struck, puts in one from each line.",
    "RELEASE <name> [<count>]",
    "    Lets go what HOLD, STALL, DELAY or DRIP keep back.",
];
