//! Lets go what faults keep back.

use std::sync::Arc;

use tailrace_storage::Now;

use super::Double;
use super::held::Held;
use super::held::What;
use crate::client::ClientId;
use crate::engine::Engine;
use crate::gate;
use crate::resume::Resumed;
use crate::state::State;

/// Lets go what the fault of this name keeps back on these engines, at most `count` of it. Says how much that was.
pub(crate) fn on_all(engines: &[Arc<Engine>], rule: &[u8], count: usize) -> usize {
    let mut left = count;
    for engine in engines {
        left -= engine.with(|state, now| state.release(rule, left, now));
    }
    count - left
}

impl State {
    /// Lets go what is due.
    pub(crate) fn release_due(&mut self, now: Now) {
        while let Some(held) = self.held(|double| double.held.take_due(now.mono)) {
            self.let_go(held, now);
        }
    }

    /// Lets go what the fault of this name keeps back, the first of it first, at most `count` of it. Says how
    /// much that was.
    pub(crate) fn release(&mut self, rule: &[u8], count: usize, now: Now) -> usize {
        for released in 0..count {
            match self.held(|double| double.held.take_of(rule)) {
                Some(held) => self.let_go(held, now),
                None => return released,
            }
        }
        count
    }

    fn held(&mut self, take: impl FnOnce(&mut Double) -> Option<Held>) -> Option<Held> {
        self.double.as_mut().and_then(|double| take(double))
    }

    fn let_go(&mut self, held: Held, now: Now) {
        let Held {
            client: id,
            rule,
            what,
            ..
        } = held;
        if let (What::Command(..), Some(double)) = (&what, &mut self.double) {
            double.held.let_pass(id);
        }
        match what {
            What::Command(request, request_bytes) | What::Unseen(request, request_bytes) => {
                self.clients.at(id).is_let_go = true;
                self.resumed.push_back(Resumed::Held(gate::Held {
                    client: id,
                    request,
                    request_bytes,
                }));
            }
            What::Reply(bytes) => self.say(id, &bytes),
            What::Drip {
                mut bytes,
                at_once,
                every,
            } if bytes.len() > at_once => {
                let rest = bytes.split_off(at_once);
                let client = self.clients.at(id);
                client.out.extend_from_slice(&bytes);
                self.touch(id);
                let what = What::Drip {
                    bytes: rest,
                    at_once,
                    every,
                };
                if let Some(double) = &mut self.double {
                    double.held.add(Held {
                        client: id,
                        rule,
                        until: Some(now.mono + every),
                        what,
                    });
                }
            }
            What::Drip { bytes, .. } => self.say(id, &bytes),
        }
    }

    /// Sends a client the reply that it waited for, and lets it go on.
    pub(super) fn say(&mut self, id: ClientId, bytes: &[u8]) {
        let client = self.clients.at(id);
        client.gated = false;
        client.argument_bytes = 0;
        client.out.extend_from_slice(bytes);
        let has_backlog = !client.backlog.is_empty();
        self.touch(id);
        if has_backlog {
            self.resumed.push_back(Resumed::Waiter(id));
        }
    }
}
