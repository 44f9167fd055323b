//! Clients of the same node. Several nodes may be faces of one engine, and none shows the clients of another.

use super::NodeIndex;
use crate::client::Client;
use crate::client::ClientId;
use crate::state::State;

impl State {
    /// The clients of the node that a client is connected to, in the order in which they came.
    pub(crate) fn clients_beside(&self, id: ClientId) -> impl Iterator<Item = &Client> {
        let face = self.face_of(id);
        let clients = self.clients.iter();
        clients.filter(move |client| face.is_none_or(|face| client.face == face))
    }

    /// The client of this number, if it is connected to the same node as another.
    pub(crate) fn client_beside(&self, id: ClientId, number: u64) -> Option<&Client> {
        let face = self.face_of(id);
        let client = self.clients.by_number(number);
        client.filter(|client| face.is_none_or(|face| client.face == face))
    }

    /// How many of these are connected to the node that a client is connected to.
    pub(crate) fn count_beside(&self, id: ClientId, clients: &[ClientId]) -> usize {
        let Some(face) = self.face_of(id) else {
            return clients.len();
        };
        let is_beside = |id: &&ClientId| self.is_at(**id, face);
        clients.iter().filter(is_beside).count()
    }

    /// How many clients a node has.
    pub(crate) fn clients_of(&self, face: NodeIndex) -> usize {
        let clients = self.clients.iter();
        clients.filter(|client| client.face == face).count()
    }

    /// Whether a client is connected to a node.
    pub(crate) fn is_at(&self, id: ClientId, face: NodeIndex) -> bool {
        self.clients
            .get(id)
            .is_some_and(|client| client.face == face)
    }

    /// The node that a client is connected to; nothing outside of a cluster, where all clients are.
    pub(crate) fn face_of(&self, id: ClientId) -> Option<NodeIndex> {
        self.cluster.as_ref()?;
        self.clients.get(id).map(|client| client.face)
    }
}
