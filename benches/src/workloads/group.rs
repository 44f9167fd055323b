//! `group/N`: consumers of one group that read N entries and acknowledge them with their next read.

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
            is_endless: false,
            finished: false,
        }
    }

    /// Writes the next request for the entries in a reply of XREADGROUP: `[[key, [[id, fields] ...]]]`.
    fn acknowledge(&mut self, reply: &mut Reader<'_>) -> Result<(), Fault> {
        self.request.clear();
        self.acknowledged = 0;
        let mut entries = 0;
        if reply.array()?.is_some() {
            reply.array()?;
            reply.bulk()?;
            entries = reply.array()?.unwrap_or(0);
        }
        if entries == 0 {
            self.finished = !self.is_endless;
            self.request.extend_from_slice(&self.read);
            return Ok(());
        }
        push_header(&mut self.request, 3 + entries);
        for word in [&b"XACK"[..], &self.key, GROUP] {
            push_bulk(&mut self.request, word);
        }
        for _ in 0..entries {
            reply.array()?;
            push_bulk(&mut self.request, reply.bulk()?.unwrap_or_default());
            for _ in 0..reply.array()?.unwrap_or(0) {
                reply.bulk()?;
            }
        }
        self.request.extend_from_slice(&self.read);
        self.acknowledged = entries;
        Ok(())
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

    fn on_replies(&mut self, replies: &[u8]) -> Result<u64, Fault> {
        let mut reader = Reader::new(replies);
        let asked = self.acknowledged as u64;
        let done = match asked {
            0 => 0,
            _ => reader.integer()?.unsigned_abs(),
        };
        if done != asked {
            return Err(Fault::Unexpected(format!(
                "{done} of {asked} entries were acknowledged"
            )));
        }
        self.acknowledge(&mut reader)?;
        Ok(done)
    }
}

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
    fn an_entry_that_was_not_acknowledged_is_a_fault() {
        let mut consumer = Consumer::new(KEY, 7, 10);
        consumer.prepare();
        consumer.on_replies(READ).unwrap();
        consumer.prepare();

        assert!(consumer.on_replies(b":1\r\n*-1\r\n").is_err());
    }
}
