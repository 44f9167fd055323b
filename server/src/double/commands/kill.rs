//! `TESTDOUBLE KILL CLIENT name|id` and `TESTDOUBLE KILL CONSUMER stream group consumer`
//!
//! Closes connections as a network does that fails: at once, with whatever has not left. Replies with how many.
//!
//! Behaviour worth knowing:
//! - `CLIENT` by name closes all clients of the name, and never the one that asks.
//! - `CONSUMER` closes those that read, or claimed, in the group as this consumer last. What it has pending stays: it died
//!   between reading and acknowledging.
//! - What a script reads is its own business.

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
use crate::double::rules::is_client;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

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
    let chosen = match what.to_ascii_lowercase().as_slice() {
        b"help" => {
            args.end()?;
            help::write(reply, HELP);
            return Ok(Flow::Done);
        }
        b"client" => {
            let client = args.bytes()?;
            args.end()?;
            clients(call, client)?
        }
        b"consumer" => {
            let place = wait::place(&mut args)?;
            let consumer = args.bytes()?;
            args.end()?;
            readers(call, &place, consumer)?
        }
        _ => return Err(syntax::unknown("KILL", what, "CLIENT or CONSUMER")),
    };
    for id in &chosen {
        call.state.kill(*id);
    }
    reply.unsigned(chosen.len() as u64);
    Ok(Flow::Done)
}

/// The others of this name, or the one of this number.
fn clients(call: &Call<'_>, wanted: &[u8]) -> Result<Vec<ClientId>, CommandError> {
    let others = call.state.clients.iter();
    let others = others.filter(|client| client.id != call.id);
    let (meant, others): (Vec<_>, Vec<_>) = others.partition(|client| is_client(client, wanted));
    if meant.is_empty() {
        let mut names: Vec<_> = others
            .iter()
            .map(|client| (client.id, client.name.as_slice()))
            .collect();
        names.sort_unstable();
        let wanted = text(wanted);
        return Err(fail(format!(
            "no other client is called {wanted}; there are: {}",
            describe(&names)
        )));
    }
    Ok(meant.iter().map(|client| client.id).collect())
}

/// The clients that read as this consumer, but for the one that asks.
fn readers(
    call: &mut Call<'_>,
    place: &Place,
    consumer: &[u8],
) -> Result<Vec<ClientId>, CommandError> {
    let caller = call.id;
    let readers = double(call).readers.of(&place.stream, &place.group);
    let others = readers.into_iter().filter(|(client, _)| *client != caller);
    let (meant, others): (Vec<_>, Vec<_>) = others.partition(|(_, as_whom)| *as_whom == consumer);
    if meant.is_empty() {
        return Err(fail(format!(
            "no other client reads {} as {}; there are: {}",
            place.name(),
            text(consumer),
            describe(&others)
        )));
    }
    Ok(meant.into_iter().map(|(client, _)| client).collect())
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
