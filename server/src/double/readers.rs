//! As which consumers clients read, for a test that lets one of them die.

use std::collections::HashMap;

use super::hooks::Sent;
use super::subject::Subject;
use crate::client::ClientId;
use crate::spec::Flags;
use crate::spec::Spec;

/// As which consumer each client read last, by stream and group.
#[derive(Default)]
pub(crate) struct ReadersByClient {
    clients: HashMap<ClientId, Readings, foldhash::fast::FixedState>,
}

/// As which consumers a client read.
#[derive(Default)]
struct Readings {
    all: Vec<Reading>,
    /// How it said that the last time, on the wire: most clients say the same again and again.
    last: Vec<u8>,
}

/// A client read, or claimed, as this consumer.
struct Reading {
    stream: Vec<u8>,
    group: Vec<u8>,
    consumer: Vec<u8>,
}

impl ReadersByClient {
    /// A client sends a command, which may be one that reads or claims.
    #[inline]
    pub(crate) fn note(&mut self, client: ClientId, spec: &'static Spec, sent: &Sent<'_>) {
        if is_noted(spec) {
            self.note_reading(client, spec, sent);
        }
    }

    fn note_reading(&mut self, client: ClientId, spec: &'static Spec, sent: &Sent<'_>) {
        let readings = self.clients.entry(client).or_default();
        if !sent.frame.is_empty() && readings.last == sent.frame {
            return;
        }
        readings.last.clear();
        readings.last.extend_from_slice(sent.frame);
        let readings = &mut readings.all;
        let subject = Subject::of(spec, sent.request);
        let (Some(group), Some(consumer)) = (subject.group, subject.consumer) else {
            return;
        };
        for stream in subject.keys {
            readings.retain(|one| one.stream != stream || one.group != group);
            if readings.len() == READINGS_MAX {
                readings.remove(0);
            }
            readings.push(Reading {
                stream: stream.to_vec(),
                group: group.to_vec(),
                consumer: consumer.to_vec(),
            });
        }
    }

    /// The clients that read a group of a stream, and as which consumers.
    pub(crate) fn of(&self, stream: &[u8], group: &[u8]) -> Vec<(ClientId, &[u8])> {
        let readings = self.clients.iter().flat_map(|(client, readings)| {
            let of_client = readings.all.iter().map(|one| (*client, one));
            of_client.filter(|(_, one)| one.stream == stream && one.group == group)
        });
        let mut found: Vec<_> = readings
            .map(|(client, one)| (client, &one.consumer[..]))
            .collect();
        found.sort_unstable();
        found
    }

    /// A client has left.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.clients.remove(&client);
    }
}

/// Whether a command gives a consumer something.
#[inline]
pub(crate) fn is_noted(spec: &'static Spec) -> bool {
    spec.flags.has(Flags::SERVES_CONSUMER)
}

/// Of how many groups it is kept as whom a client reads.
const READINGS_MAX: usize = 64;
