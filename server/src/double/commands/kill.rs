//! `TESTDOUBLE KILL CLIENT name|id` and `TESTDOUBLE KILL CONSUMER stream group consumer`
//!
//! Closes connections as a network does that fails: at once, with whatever has not left. Replies with how many.
//!
//! Behaviour worth knowing:
//! - `CLIENT` by name closes all clients of the name, and never the one that asks.
//! - `CONSUMER` closes those that read, or claimed, in the group as this consumer last. What it has pending stays: it died
//!   between reading and acknowledging.
//! - What a script reads is its own business.
//! - In a cluster this is about the clients of all nodes.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use super::wait;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ClientId;
use crate::double::condition::Place;
use crate::double::condition::text;
use crate::double::jobs::Outcome;
use crate::double::nodes;
use crate::double::rules::is_client;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|kill",
    arity: -3,
    syntax: "what [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Closes connections as a network does that fails.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let what = args.bytes()?;
    let victims = match what.to_ascii_lowercase().as_slice() {
        b"help" => {
            args.end()?;
            help::write(reply, HELP);
            return Ok(Flow::Done);
        }
        b"client" => Victims::Named(args.bytes()?.to_vec()),
        b"consumer" => Victims::Reading {
            place: wait::place(&mut args)?,
            consumer: args.bytes()?.to_vec(),
        },
        _ => return Err(syntax::unknown("KILL", what, "CLIENT or CONSUMER")),
    };
    args.end()?;
    let caller = (double(call).engine, call.id);
    if !double(call).stage.is_alone() {
        let failure = victims.describe();
        let act = move |state: &mut State, _| victims.kill(state, caller).0;
        return Ok(nodes::on_each(call, act, |count| match count {
            0 => Outcome::Failed(failure),
            count => Outcome::Count(count),
        }));
    }
    match victims.kill(call.state, caller) {
        (0, others) => Err(fail(format!("{}; there are: {others}", victims.describe()))),
        (count, _) => {
            reply.unsigned(count as u64);
            Ok(Flow::Done)
        }
    }
}

/// Whose connections are to be closed.
enum Victims {
    /// Those of this name, or the one of this number.
    Named(Vec<u8>),
    /// Those that read as this consumer.
    Reading { place: Place, consumer: Vec<u8> },
}

impl Victims {
    /// Closes them on one node, but for the one that asks. Gives how many there were, and who else there is.
    fn kill(&self, state: &mut State, caller: (usize, ClientId)) -> (usize, String) {
        let Some(double) = &state.double else {
            return (0, String::new());
        };
        let mut clients: Vec<(ClientId, &[u8])> = match self {
            Self::Named(_) => {
                let clients = state.clients.iter();
                clients
                    .map(|client| (client.id, &client.name[..]))
                    .collect()
            }
            Self::Reading { place, .. } => double.readers.of(&place.stream, &place.group),
        };
        clients.retain(|(id, _)| (double.engine, *id) != caller);
        clients.sort_unstable();
        let (meant, others): (Vec<_>, Vec<_>) =
            clients.into_iter().partition(|(id, name)| match self {
                Self::Named(wanted) => {
                    let client = state.clients.get(*id);
                    client.is_some_and(|client| is_client(client, wanted))
                }
                Self::Reading { consumer, .. } => name == consumer,
            });
        let meant: Vec<_> = meant.into_iter().map(|(id, _)| id).collect();
        let others = describe(&others);
        meant.iter().for_each(|id| state.kill(*id));
        (meant.len(), others)
    }

    /// That there are none.
    fn describe(&self) -> String {
        match self {
            Self::Named(wanted) => format!("no other client is called {}", text(wanted)),
            Self::Reading { place, consumer } => {
                let (place, consumer) = (place.name(), text(consumer));
                format!("no other client reads {place} as {consumer}")
            }
        }
    }
}

/// Some clients with a name each.
fn describe(clients: &[(ClientId, &[u8])]) -> String {
    let names: Vec<_> = clients
        .iter()
        .take(SHOWN_MAX)
        .map(|(client, name)| {
            format!("{} {}", client.number, text(name))
                .trim_end()
                .to_owned()
        })
        .collect();
    match clients.len().saturating_sub(SHOWN_MAX) {
        _ if names.is_empty() => "none".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// How many clients an error shows.
const SHOWN_MAX: usize = 10;

pub(super) const HELP: &[&str] = &[
    "KILL CLIENT <name>|<id>",
    "    Closes connections at once, with all that has not left.",
    "KILL CONSUMER <stream> <group> <consumer>",
    "    Closes what reads as a consumer; what it has pending stays so.",
];
