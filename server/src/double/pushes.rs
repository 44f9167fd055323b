//! Pushes that a fault loses: messages, and what tells clients that their caches are stale.

use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;

use crate::client::ClientId;
use crate::state::State;

/// What pushes there are that a fault can lose.
pub(crate) const KINDS: &[&str] = &["message", "pmessage", "smessage", "invalidate"];

impl State {
    /// Whether a fault loses a message on this channel that is pushed to a client.
    #[cold]
    pub(crate) fn loses_message(&mut self, to: ClientId, kind: &[u8], channel: &[u8]) -> bool {
        self.loses_push(to, kind, &[channel])
    }

    /// Whether a fault loses what tells a client that `keys` changed: an array as it stands on the wire, or nothing
    /// for all there are.
    #[cold]
    pub(crate) fn loses_invalidation(&mut self, to: ClientId, keys: &[u8]) -> bool {
        // An array of keys looks like a request.
        let mut batch = Batch::new();
        let bounds = BatchBounds::NONE;
        let decoded = Decoder::default().decode(keys, &mut batch, bounds);
        let names: Vec<&[u8]> = match decoded {
            Ok(_) if keys.starts_with(b"*") && !batch.is_empty() => {
                batch.request(keys, 0).iter().collect()
            }
            _ => Vec::new(),
        };
        self.loses_push(to, b"invalidate", &names)
    }

    fn loses_push(&mut self, to: ClientId, kind: &[u8], names: &[&[u8]]) -> bool {
        match (&mut self.double, self.clients.get(to)) {
            (Some(double), Some(client)) => {
                let mut rules = double.stage.rules.lock();
                rules.strike_push(kind, names, client)
            }
            _ => false,
        }
    }
}
