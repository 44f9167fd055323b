//! Whose connections a test closes, as a network does that fails.

use super::condition::Place;
use super::condition::text;
use super::rules::is_client;
use crate::client::ClientId;
use crate::state::State;

/// Whose connections are to be closed.
pub(crate) enum Victims {
    /// Those of this name, or the one of this number.
    Named(Vec<u8>),
    /// Those that read as this consumer.
    Reading { place: Place, consumer: Vec<u8> },
}

impl Victims {
    /// Closes them on one node, but for the client of an engine that asks, if it is one. Gives how many there were, and who
    /// else there is.
    pub(crate) fn kill(
        &self,
        state: &mut State,
        caller: Option<(usize, ClientId)>,
    ) -> (usize, String) {
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
        clients.retain(|(id, _)| Some((double.engine, *id)) != caller);
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
    pub(crate) fn describe(&self) -> String {
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
