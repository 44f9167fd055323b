//! `group/N`: consumers of one group that read N entries and acknowledge them with their next read.

mod shape;

use std::ops::Range;

use self::shape::Shape;
use super::CONNECTIONS;
use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::entries::GROUP;
use super::entries::consumer;
use super::entries::create_group;
use super::entries::fill;
use crate::fault::Fault;
use crate::load::Hearing;
use crate::load::Talker;
use crate::resp::Reader;
use crate::resp::push_bulk;
use crate::resp::push_command;
use crate::resp::push_header;

/// Reads and acknowledges.
pub(crate) struct Group {
    facts: Facts,
    /// Entries that one command reads.
    pub(super) count: u32,
    /// Entries in the stream of a full run.
    pub(super) entries: u32,
}

pub(super) const BY_1: Group = Group::new("group/1", "XREADGROUP of 1, and XACK", 1, 200_000, 1.3);
pub(super) const BY_10: Group =
    Group::new("group/10", "XREADGROUP of 10, and XACK", 10, 500_000, 2.5);
pub(super) const BY_100: Group = Group::new(
    "group/100",
    "XREADGROUP of 100, and XACK",
    100,
    1_000_000,
    4.0,
);

impl Group {
    const fn new(
        name: &'static str,
        brief: &'static str,
        count: u32,
        entries: u32,
        target: f64,
    ) -> Self {
        Self {
            facts: Facts {
                name,
                brief,
                question: "How many entries can 50 consumers of one group read and acknowledge?",
                unit: Unit::rate("entries/s"),
                target: Target::Times(target),
            },
            count,
            entries,
        }
    }
}

impl Workload for Group {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn has_floor(&self) -> bool {
        true
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<(), Fault> {
        fill(site, site.amount(self.entries))?;
        create_group(site)
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let consumer = |number: u16| -> Box<dyn Talker> {
            Box::new(Consumer::new(KEY, number.into(), self.count))
        };
        let consumers = (0..CONNECTIONS).map(consumer).collect();
        let entries = site.amount(self.entries);
        site.load(consumers, entries).map(Sample::from)
    }
}

/// A consumer of [`GROUP`]: reads new entries, and acknowledges them with its next read.
pub(crate) struct Consumer {
    /// The stream that it reads.
    key: Vec<u8>,
    /// The command that reads, ready to be sent.
    read: Vec<u8>,
    /// The next request: what was read is acknowledged, and more is asked for.
    request: Vec<u8>,
    /// How many entries the request acknowledges.
    acknowledged: usize,
    /// What the last replies looked like, if the next ones may look the same.
    shape: Option<Shape>,
    /// Where the first ID stands in the request.
    ids_start: usize,
    /// Whether it asks again when there was nothing to read.
    is_endless: bool,
    finished: bool,
}

impl Consumer {
    /// One that goes on for as long as it may.
    pub(crate) fn endless(number: u64, count: u32) -> Self {
        Self {
            is_endless: true,
            ..Self::new(KEY, number, count)
        }
    }

    /// One that goes on until there is nothing new to read.
    pub(super) fn new(key: &[u8], number: u64, count: u32) -> Self {
        let mut read = Vec::new();
        push_command(
            &mut read,
            &[
                b"XREADGROUP",
                b"GROUP",
                GROUP,
                consumer(number).as_bytes(),
                b"COUNT",
                count.to_string().as_bytes(),
                b"STREAMS",
                key,
                b">",
            ],
        );
        Self {
            key: key.to_vec(),
            request: read.clone(),
            read,
            acknowledged: 0,
            shape: None,
            ids_start: 0,
            is_endless: false,
            finished: false,
        }
    }

    /// Reads the places of the IDs in a reply of XREADGROUP: `[[key, [[id, fields] ...]]]`.
    fn read(reply: &mut Reader<'_>) -> Result<Vec<Range<usize>>, Fault> {
        let mut entries = 0;
        if reply.array()?.is_some() {
            reply.array()?;
            reply.bulk()?;
            entries = reply.array()?.unwrap_or(0);
        }
        let mut ids = Vec::with_capacity(entries);
        for _ in 0..entries {
            reply.array()?;
            let id = reply.bulk()?.unwrap_or_default().len();
            let end = reply.position() - 2;
            ids.push(end - id..end);
            for _ in 0..reply.array()?.unwrap_or(0) {
                reply.bulk()?;
            }
        }
        Ok(ids)
    }

    /// Writes the next request, for the entries with IDs at these places of `replies`.
    fn acknowledge(&mut self, replies: &[u8], ids: &[Range<usize>]) {
        self.request.clear();
        self.acknowledged = ids.len();
        if ids.is_empty() {
            self.finished = !self.is_endless;
        } else {
            push_header(&mut self.request, 3 + ids.len());
            for word in [&b"XACK"[..], &self.key, GROUP] {
                push_bulk(&mut self.request, word);
            }
            self.ids_start = self.request.len() + ID_TO_ID_BYTES - "\r\n".len();
            for id in ids {
                push_bulk(&mut self.request, &replies[id.clone()]);
            }
        }
        self.request.extend_from_slice(&self.read);
    }
}

impl Talker for Consumer {
    fn prepare(&mut self) -> u64 {
        match (self.finished, self.acknowledged) {
            (true, _) => 0,
            (false, 0) => 1,
            (false, _) => 2,
        }
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn hearing(&self) -> Hearing {
        Hearing::Read
    }

    fn on_known(&mut self, replies: &[u8]) -> Option<u64> {
        let shape = self.shape.as_ref().filter(|shape| shape.fits(replies))?;
        // The request on its way acknowledges as many, with IDs as long.
        let mut written = self.ids_start;
        for id in shape.places() {
            let end = written + id.len();
            self.request[written..end].copy_from_slice(&replies[id]);
            written = end + ID_TO_ID_BYTES;
        }
        Some(self.acknowledged as u64)
    }

    fn on_replies(&mut self, replies: &[u8]) -> Result<u64, Fault> {
        let mut reader = Reader::new(replies);
        let asked = self.acknowledged;
        let done = match asked {
            0 => 0,
            _ => usize::try_from(reader.integer()?).unwrap_or(0),
        };
        if done != asked {
            return Err(Fault::Unexpected(format!(
                "{done} of {asked} entries were acknowledged"
            )));
        }
        let ids = Self::read(&mut reader)?;
        self.acknowledge(replies, &ids);
        // The next replies are like these if as many are acknowledged then.
        let is_steady = ids.len() == asked && ids.iter().all(|id| ID_BYTES.contains(&id.len()));
        self.shape = Shape::of(replies, &ids).filter(|_| is_steady);
        Ok(done as u64)
    }
}

/// How long an ID is whose length has two digits.
const ID_BYTES: Range<usize> = 10..100;

/// From the end of an ID of such a length in a request to the beginning of the next.
const ID_TO_ID_BYTES: usize = "\r\n$15\r\n".len();

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &[u8] = b"*1\r\n*2\r\n$14\r\ntailrace-bench\r\n*2\r\n\
        *2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n*2\r\n$3\r\n2-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n";

    #[test]
    fn what_was_read_is_acknowledged_with_the_next_read() {
        let mut consumer = Consumer::new(KEY, 7, 10);
        assert_eq!(consumer.prepare(), 1);
        assert_eq!(consumer.on_replies(READ).unwrap(), 0);

        assert_eq!(consumer.prepare(), 2);
        let mut expected = Vec::new();
        push_command(&mut expected, &[b"XACK", KEY, GROUP, b"1-0", b"2-0"]);
        expected.extend_from_slice(&consumer.read);
        assert_eq!(consumer.request(), expected);

        assert_eq!(consumer.on_replies(b":2\r\n*-1\r\n").unwrap(), 2);
        assert_eq!(consumer.prepare(), 0, "nothing was left to read");
    }

    #[test]
    fn replies_that_look_like_the_last_ones_are_not_read_again() {
        let read = |first: &str, second: &str| {
            format!(
                ":2\r\n*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$12\r\n{first}\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n\
                 *2\r\n$12\r\n{second}\r\n*2\r\n$1\r\nf\r\n$1\r\nw\r\n"
            )
        };
        let mut consumer = Consumer::new(KEY, 7, 10);
        consumer.on_replies(READ).unwrap();
        let (one, two) = (
            read("1111111111-0", "1111111112-0"),
            read("1111111113-0", "1111111114-0"),
        );
        assert_eq!(consumer.on_known(one.as_bytes()), None, "IDs were shorter");
        assert_eq!(consumer.on_replies(one.as_bytes()).unwrap(), 2);
        let mut other = Consumer::new(KEY, 7, 10);
        other.on_replies(READ).unwrap();
        other.on_replies(two.as_bytes()).unwrap();

        assert_eq!(consumer.on_known(two.as_bytes()), Some(2));
        assert_eq!(consumer.request(), other.request());
        assert_eq!(consumer.on_known(&two.as_bytes()[..two.len() - 1]), None);
    }

    #[test]
    fn an_entry_that_was_not_acknowledged_is_a_fault() {
        let mut consumer = Consumer::new(KEY, 7, 10);
        consumer.prepare();
        consumer.on_replies(READ).unwrap();
        consumer.prepare();

        assert!(consumer.on_replies(b":1\r\n*-1\r\n").is_err());
    }
}
