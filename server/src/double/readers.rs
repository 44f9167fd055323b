//! As which consumers clients read, for a test that lets one of them die.

use std::collections::HashMap;

use tailrace_protocol::Request;

use super::subject::Subject;
use crate::client::ClientId;
use crate::spec::Group;
use crate::spec::Spec;

/// As which consumer each client read last, by stream and group.
#[derive(Default)]
pub(crate) struct ReadersByClient {
    clients: HashMap<ClientId, Vec<Reading>>,
}

/// A client read, or claimed, as this consumer.
struct Reading {
    stream: Vec<u8>,
    group: Vec<u8>,
    consumer: Vec<u8>,
}

impl ReadersByClient {
    /// A client sends a command, which may be one that reads or claims.
    pub(crate) fn note(&mut self, client: ClientId, spec: &'static Spec, request: Request<'_>) {
        if !is_noted(spec) {
            return;
        }
        let subject = Subject::of(spec, request);
        let (Some(group), Some(consumer)) = (subject.group, subject.consumer) else {
            return;
        };
        let readings = self.clients.entry(client).or_default();
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
            let of_client = readings.iter().map(|one| (*client, one));
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
    matches!(spec.group, Group::Stream) && READING.contains(&spec.name)
}

/// The commands that give a consumer something.
const READING: &[&str] = &["xreadgroup", "xclaim", "xautoclaim"];

/// Of how many groups it is kept as whom a client reads.
const READINGS_MAX: usize = 64;
