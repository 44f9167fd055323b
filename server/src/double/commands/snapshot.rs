//! `TESTDOUBLE SNAPSHOT SAVE | RESTORE | DROP name`, `TESTDOUBLE SNAPSHOT LIST`
//!
//! Keeps all data and the clock under a name, and goes back to them.
//!
//! Behaviour worth knowing:
//! - A snapshot has all databases: keys, deadlines, groups, consumers, what is pending; and how the clock goes and what
//!   it shows. If there is a ledger, it has that, too. It has no clients, faults, calls or settings.
//! - RESTORE keeps connections. Who waits is attempted again as after SWAPDB of all databases, watched keys that are
//!   there or were are changed, and caches are told to forget all.
//! - In a cluster it is of all nodes, and RESTORE gives back slots and roles.
//! - A snapshot can be restored as often as one likes.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::nodes;
use crate::double::snapshots::Snapshots;
use crate::double::snapshots::check_known;
use crate::double::snapshots::check_new;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|snapshot",
    arity: -3,
    syntax: "action [name]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Keeps all data and the clock, and goes back to them.",
    ..Spec::of(run)
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
        b"list" => {
            args.end()?;
            return list(call, reply);
        }
        b"save" => {
            let name = name(args)?.to_vec();
            super::refuse_amid_script(call)?;
            check_new(double(call), &name).map_err(fail)?;
            return Ok(nodes::everywhere(call, reply, move |state| {
                state.save_snapshot(&name);
            }));
        }
        b"restore" => {
            let name = name(args)?.to_vec();
            super::refuse_amid_script(call)?;
            check_known(double(call), &name).map_err(fail)?;
            return Ok(nodes::everywhere(call, reply, move |state| {
                state.restore_snapshot(&name);
            }));
        }
        b"drop" => {
            let name = name(args)?.to_vec();
            check_known(double(call), &name).map_err(fail)?;
            return Ok(nodes::everywhere(call, reply, move |state| {
                state.drop_snapshot(&name);
            }));
        }
        _ => return Err(syntax::unknown("SNAPSHOT", action, "TD SNAPSHOT HELP")),
    }
    Ok(Flow::Done)
}

fn name<'a>(mut args: Args<'a>) -> Result<&'a [u8], CommandError> {
    let name = args.bytes()?;
    args.end()?;
    Ok(name)
}

/// Tells of the snapshots of all nodes, which have the same names.
fn list(call: &mut Call<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    let look = |state: &State| match &state.double {
        Some(double) => double.snapshots.clone(),
        None => Snapshots::default(),
    };
    nodes::tell_of_all(call, reply, look, |nodes, reply| {
        let first = nodes.first().into_iter().flatten();
        reply.array(first.clone().count());
        for (name, saved) in first {
            let parts = || nodes.iter().filter_map(|node| node.get(name));
            let keys: usize = parts().map(|part| part.data.len()).sum();
            let bytes: usize = parts().map(|part| part.data.bytes()).sum();
            reply.map(4);
            reply.bulk(b"name");
            reply.bulk(name);
            reply.bulk(b"clock");
            reply.bulk(saved.clock.describe().as_bytes());
            reply.bulk(b"keys");
            reply.unsigned(keys as u64);
            reply.bulk(b"bytes");
            reply.unsigned(bytes as u64);
        }
        Ok(())
    })
}

pub(super) const HELP: &[&str] = &[
    "SNAPSHOT SAVE <name> | RESTORE <name> | DROP <name> | LIST",
    "    Keeps the data of all databases and the clock, goes back to them, forgets them, lists what is kept.",
];
