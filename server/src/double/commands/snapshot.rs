//! `TESTDOUBLE SNAPSHOT SAVE | RESTORE | DROP name`, `TESTDOUBLE SNAPSHOT LIST`
//!
//! Keeps all data and the clock under a name, and goes back to them.
//!
//! Behaviour worth knowing:
//! - A snapshot has all databases: keys, deadlines, groups, consumers, what is pending; and how the clock goes and what
//!   it shows. If there is a ledger, it has that, too. It has no clients, faults, calls or settings.
//! - RESTORE keeps connections. Who waits is attempted again as after SWAPDB of all databases, watched keys that are
//!   there or were are changed, and caches are told to forget all.
//! - In a cluster it is of all nodes; which node has which slot stays as it is. LIST tells of the node that is asked.
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
use crate::double::Double;
use crate::double::condition::text;
use crate::double::nodes;
use crate::double::snapshots::SNAPSHOTS_MAX;
use crate::double::snapshots::Saved;
use crate::double::snapshots::Snapshots;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

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
            list(&double(call).snapshots, reply);
        }
        b"save" => {
            let name = name(args)?.to_vec();
            super::refuse_amid_script(call)?;
            check_new(double(call), &name)?;
            return Ok(nodes::everywhere(call, reply, move |state| {
                state.save_snapshot(&name);
            }));
        }
        b"restore" => {
            let name = name(args)?.to_vec();
            super::refuse_amid_script(call)?;
            known(double(call), &name)?;
            return Ok(nodes::everywhere(call, reply, move |state| {
                state.restore_snapshot(&name);
            }));
        }
        b"drop" => {
            let name = name(args)?.to_vec();
            known(double(call), &name)?;
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

/// Whether a snapshot can be kept under this name.
fn check_new(double: &Double, name: &[u8]) -> Result<(), CommandError> {
    if is_now(name) {
        return Err(fail(
            "NOW and . name what is there now; choose another name",
        ));
    }
    if double.snapshots.len() >= SNAPSHOTS_MAX && !double.snapshots.contains_key(name) {
        return Err(fail(format!(
            "there are {SNAPSHOTS_MAX} snapshots, which is the most; DROP one"
        )));
    }
    Ok(())
}

/// Whether a name means what is there now, wherever a snapshot can be named.
pub(super) fn is_now(name: &[u8]) -> bool {
    name == b"." || name.eq_ignore_ascii_case(b"now")
}

/// The snapshot of this name.
pub(super) fn known<'a>(double: &'a Double, name: &[u8]) -> Result<&'a Saved, CommandError> {
    double.snapshots.get(name).ok_or_else(|| {
        let names: Vec<String> = double.snapshots.keys().map(|name| text(name)).collect();
        let name = text(name);
        fail(match names.as_slice() {
            [] => format!("there is no snapshot '{name}', and no other"),
            names => format!(
                "there is no snapshot '{name}'; there are: {}",
                names.join(", ")
            ),
        })
    })
}

fn list(snapshots: &Snapshots, reply: &mut ReplyWriter<'_>) {
    reply.array(snapshots.len());
    for (name, saved) in snapshots {
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(name);
        reply.bulk(b"clock");
        reply.bulk(saved.clock.describe().as_bytes());
        reply.bulk(b"keys");
        reply.unsigned(saved.data.len() as u64);
        reply.bulk(b"bytes");
        reply.unsigned(saved.data.bytes() as u64);
    }
}

pub(super) const HELP: &[&str] = &[
    "SNAPSHOT SAVE <name> | RESTORE <name> | DROP <name> | LIST",
    "    Keeps the data of all databases and the clock, goes back to them, forgets them, lists what is kept.",
];
