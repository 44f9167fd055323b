//! `TESTDOUBLE SPACE NEW [NODES n] [FROM snapshot] [OWNED] | FREE url | LIST`
//!
//! Makes servers of their own in the same process, one for each test.
//!
//! Behaviour worth knowing:
//! - A space is as the process was started; what CONFIG SET did since then is not in it. It listens on 127.0.0.1.
//! - `FROM` a snapshot it begins with the data, the ledger and the clock of that, and is that again after RESET. Keys go to the
//!   nodes that have their slots, whatever the snapshot was of: a server, or a cluster of any size.
//! - When `FREE` replies, its connections and its port are closed. Who frees the space it is connected to is
//!   answered first.
//! - Spaces of spaces are no deeper: all that there are in the process know each other.

use std::sync::Arc;

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::jobs::Outcome;
use crate::double::nodes;
use crate::double::snapshots::check_known;
use crate::double::spaces::Known;
use crate::double::spaces::Owner;
use crate::double::spaces::Spaces;
use crate::double::spaces::Wish;
use crate::double::stage::Stage;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|space",
    arity: -3,
    syntax: "action [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Makes servers of their own in the same process.",
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
        b"new" => {
            let (wish, from) = wish(call, args)?;
            return start(call, reply, wish, from);
        }
        b"list" => {
            args.end()?;
            list(&spaces(call)?.list(), reply);
        }
        b"free" => {
            let name = args.bytes()?;
            args.end()?;
            return free(call, name, reply);
        }
        _ => return Err(syntax::unknown("SPACE", action, "TD SPACE HELP")),
    }
    Ok(Flow::Done)
}

/// Starts a space, with what all nodes had when a snapshot was kept if it begins with one.
fn start(
    call: &mut Call<'_>,
    reply: &mut ReplyWriter<'_>,
    mut wish: Wish,
    from: Option<Vec<u8>>,
) -> Result<Flow, CommandError> {
    let stage = Arc::clone(&double(call).stage);
    let spaces = spaces(call)?;
    let Some(name) = from else {
        let space = stage.within_runtime(|| spaces.start(&wish));
        say_where(&space.map_err(|error| fail(error.to_string()))?, reply);
        return Ok(Flow::Done);
    };
    let look = move |state: &State| state.snapshot(&name);
    nodes::tell_of_all(call, reply, look, move |nodes, reply| {
        wish.from = nodes.into_iter().flatten().collect();
        let space = stage.within_runtime(|| spaces.start(&wish));
        let space = space.map_err(|error| error.to_string())?;
        say_where(&space, reply);
        if wish.owner.is_some_and(|owner| has_left(&stage, owner)) {
            spaces.free_soon(space.id);
        }
        Ok(())
    })
}

fn say_where(space: &Known, reply: &mut ReplyWriter<'_>) {
    // A space listens on one port at least.
    reply.bulk(space.urls[0].as_bytes());
}

/// Whether a client left while all nodes were looked at. Where there is one only, nobody leaves meanwhile.
fn has_left(stage: &Stage, owner: Owner) -> bool {
    let engine = stage.engine(owner.engine).filter(|_| !stage.is_alone());
    engine.is_some_and(|engine| engine.look(|state| state.clients.get(owner.client).is_none()))
}

fn spaces(call: &mut Call<'_>) -> Result<Arc<Spaces>, CommandError> {
    let spaces = double(call).stage.seat.spaces.upgrade();
    spaces.ok_or_else(|| fail("the server is ending"))
}

/// Reads what a space is to be, and the snapshot that it begins with.
fn wish(call: &mut Call<'_>, mut args: Args<'_>) -> Result<(Wish, Option<Vec<u8>>), CommandError> {
    let mut wish = Wish::default();
    let mut from = None;
    while !args.is_empty() {
        if args.keyword("nodes") {
            let nodes = syntax::number(&mut args)?;
            let is_right = (1..=NODES_MAX).contains(&nodes);
            if !is_right {
                return Err(fail(format!(
                    "{nodes} is not within 1 and {NODES_MAX} nodes"
                )));
            }
            wish.nodes = usize::try_from(nodes).ok();
        } else if args.keyword("from") {
            let name = args.bytes()?;
            check_known(double(call), name).map_err(fail)?;
            from = Some(name.to_vec());
        } else if args.keyword("owned") {
            let id = call.id;
            wish.owner = Some(double(call).owner(id));
        } else {
            let word = args.bytes()?;
            return Err(syntax::unknown("a new space", word, "TD SPACE HELP"));
        }
    }
    Ok((wish, from))
}

fn free(
    call: &mut Call<'_>,
    name: &[u8],
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let spaces = spaces(call)?;
    let id = spaces
        .find(name)
        .ok_or_else(|| fail(not_there(name, &spaces.list())))?;
    if id == double(call).stage.seat.id {
        spaces.free_soon(id);
        reply.ok();
        return Ok(Flow::Done);
    }
    Ok(nodes::beside(call, async move |_| {
        spaces.free(id).await;
        Outcome::Ok
    }))
}

fn not_there(name: &[u8], known: &[Known]) -> String {
    let name = String::from_utf8_lossy(name);
    let urls: Vec<_> = known
        .iter()
        .map(|space| format!("{} at {}", space.id, space.urls.join(" ")))
        .collect();
    match urls.as_slice() {
        [] => format!("there is no space '{name}', and no other"),
        urls => format!("there is no space '{name}'; there are: {}", urls.join(", ")),
    }
}

fn list(known: &[Known], reply: &mut ReplyWriter<'_>) {
    reply.array(known.len());
    for space in known {
        reply.map(4);
        reply.bulk(b"id");
        reply.unsigned(space.id);
        reply.bulk(b"url");
        reply.bulk(space.urls.first().map_or(b"", |url| url.as_bytes()));
        reply.bulk(b"nodes");
        reply.array(space.urls.len());
        space.urls.iter().for_each(|url| reply.bulk(url.as_bytes()));
        reply.bulk(b"owner");
        match space.owner {
            None => reply.null(),
            Some(owner) => reply.unsigned(owner.client.number),
        }
    }
}

/// As many as a process may be started with.
const NODES_MAX: u64 = 1_000;

pub(super) const HELP: &[&str] = &[
    "SPACE NEW [NODES <n>] [FROM <snapshot>] [OWNED]",
    "    Starts a server of its own in this process, or a cluster, and says where: a port, data, a clock, faults",
    "    and calls of its own. FROM, it begins with the data and the clock of a snapshot, each key on the node that has",
    "    its slot. OWNED, it ends with this connection.",
    "SPACE FREE <url>|<id> | LIST",
    "    Ends one; shows all.",
];
