//! How clients are told to drop keys.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use super::Mode;
use crate::client::ClientId;
use crate::state::State;

impl State {
    /// Tells those who read a key to drop it: at once, or after its reply whose command runs. `by` is the client
    /// to which that is due.
    pub(super) fn tell_readers(&mut self, key: &[u8], readers: &[ClientId], by: Option<ClientId>) {
        for &id in readers {
            let tracking = self.clients.get(id).and_then(|to| to.tracking.as_deref());
            let Some(tracking) = tracking else {
                continue;
            };
            let is_spared = tracking.no_loop && by == Some(id);
            if !tracking.is_on || tracking.mode == Mode::Broadcast || is_spared {
                continue;
            }
            if self.caller == Some(id) {
                self.caches.pending.push(Some(key.into()));
            } else {
                self.send_invalidation(id, Some(key));
            }
        }
    }

    /// Tells a client, or whom it named, to drop one key from its cache, or all.
    pub(super) fn send_invalidation(&mut self, id: ClientId, key: Option<&[u8]>) {
        // As the client itself would read it, whoever hears it in its place.
        let version = self.clients.at(id).version;
        let mut keys = Vec::new();
        let mut writer = ReplyWriter::new(&mut keys, version);
        match key {
            Some(key) => {
                writer.array(1);
                writer.bulk(key);
            }
            None => writer.null(),
        }
        self.send_keys(id, &keys);
    }

    /// Sends `keys`, which are encoded, to a client or whom it named: as a push in RESP3. A RESP2
    /// client can hear it only from another, and only while it listens to channels.
    pub(super) fn send_keys(&mut self, id: ClientId, keys: &[u8]) {
        let client = self.clients.at(id);
        let Some(tracking) = &mut client.tracking else {
            return;
        };
        let Some(number) = tracking.redirect else {
            if client.version == Version::Resp3 && !self.is_lost(id, keys) {
                self.push(id, |reply| write_push(reply, keys));
            }
            return;
        };
        let to = self.clients.by_number(number).filter(|to| !to.closing);
        let Some(to) = to else {
            return self.on_broken_redirect(id, number);
        };
        let (to, version, listens) = (to.id, to.version, to.is_subscriber());
        if self.is_lost(to, keys) {
            return;
        }
        if version == Version::Resp3 {
            self.push(to, |reply| write_push(reply, keys));
        } else if listens {
            self.push(to, |reply| {
                reply.push(3);
                reply.bulk(b"message");
                reply.bulk(CHANNEL);
                reply.raw(keys);
            });
        }
    }

    fn is_lost(&mut self, to: ClientId, keys: &[u8]) -> bool {
        self.double.is_some() && self.loses_invalidation(to, keys)
    }

    /// The client that was to hear in the place of `id` is gone.
    fn on_broken_redirect(&mut self, id: ClientId, number: u64) {
        let client = self.clients.at(id);
        if let Some(tracking) = &mut client.tracking {
            tracking.is_redirect_broken = true;
        }
        if client.version == Version::Resp3 {
            self.push(id, |reply| {
                reply.push(2);
                reply.bulk(b"tracking-redir-broken");
                reply.unsigned(number);
            });
        }
    }
}

fn write_push(reply: &mut ReplyWriter<'_>, keys: &[u8]) {
    reply.push(2);
    reply.bulk(b"invalidate");
    reply.raw(keys);
}

/// The channel on which a RESP2 client hears what another is to drop. Nobody else is sent that.
const CHANNEL: &[u8] = b"__redis__:invalidate";
