//! `range/100`, `revrange/100`: clients that read a hundred entries at a time, from all over a stream.

use super::CONNECTIONS;
use super::KEY;
use super::Sample;
use super::Site;
use super::Unit;
use super::Workload;
use super::entries::fill;
use super::entries::id;
use crate::fault::Fault;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::Reader;
use crate::resp::push_command;

/// Reads entries.
pub(super) struct Range {
    direction: Direction,
    name: &'static str,
}

/// Which way entries are read.
pub(super) enum Direction {
    /// From a place on.
    Ahead,
    /// Up to a place, the last first.
    Back,
}

impl Range {
    /// Reads one way.
    pub(super) const fn new(direction: Direction, name: &'static str) -> Self {
        Self { direction, name }
    }

    /// Returns the command of a client; together they read from all over a stream of `len`.
    fn read(&self, client: u16, len: u64) -> Vec<Vec<u8>> {
        let first = (len - COUNT) * u64::from(client) / u64::from(CONNECTIONS);
        let (name, from, to) = match self.direction {
            Direction::Ahead => ("XRANGE", id(first), "+".to_owned()),
            Direction::Back => ("XREVRANGE", id(first + COUNT - 1), "-".to_owned()),
        };
        let mut words = vec![name.into(), KEY.to_vec()];
        words.extend([from, to, "COUNT".to_owned(), COUNT.to_string()].map(Vec::from));
        words
    }
}

impl Workload for Range {
    fn name(&self) -> &'static str {
        self.name
    }

    fn brief(&self) -> &'static str {
        match self.direction {
            Direction::Ahead => "XRANGE of 100 entries",
            Direction::Back => "XREVRANGE of 100 entries",
        }
    }

    fn question(&self) -> &'static str {
        match self.direction {
            Direction::Ahead => "How many entries can 50 clients read, 100 with each XRANGE?",
            Direction::Back => "How many entries can 50 clients read, 100 with each XREVRANGE?",
        }
    }

    fn unit(&self) -> Unit {
        Unit::rate("entries/s")
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<(), Fault> {
        let len = stream_len(site);
        fill(site, len)?;

        // The load does not look into replies, so that it is made sure here that they are whole.
        let mut control = site.control()?;
        for client in 0..CONNECTIONS {
            let words = self.read(client, len);
            let reply = control.call(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            let entries = Reader::new(&reply).array()?;
            if entries.map(|entries| entries as u64) != Some(COUNT) {
                return Err(Fault::Unexpected(format!(
                    "{entries:?} entries in place of {COUNT}"
                )));
            }
        }
        Ok(())
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let len = stream_len(site);
        let reads = site.amount(READS).div_ceil(CONNECTIONS.into());
        let client = |number| -> Box<dyn Talker> {
            let words = self.read(number, len);
            let mut request = Vec::new();
            push_command(
                &mut request,
                &words.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            );
            Box::new(Repeat {
                request,
                replies: 1,
                units: COUNT,
                times: reads,
            })
        };
        let clients = (0..CONNECTIONS).map(client).collect();
        let entries = reads * u64::from(CONNECTIONS) * COUNT;
        site.load(clients, entries).map(Sample::from)
    }
}

fn stream_len(site: &Site<'_>) -> u64 {
    site.amount(STREAM_LEN).max(COUNT)
}

/// Entries that one command reads.
const COUNT: u64 = 100;

/// Commands of a full run.
const READS: u32 = 50_000;

/// Entries in the stream of a full run.
const STREAM_LEN: u32 = 500_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_client_read_within_the_stream() {
        let ahead = Range::new(Direction::Ahead, "range/100");
        let back = Range::new(Direction::Back, "revrange/100");

        assert_eq!(ahead.read(0, COUNT)[2], id(0).into_bytes());
        assert_eq!(
            back.read(CONNECTIONS - 1, COUNT)[2],
            id(COUNT - 1).into_bytes()
        );
        assert_eq!(ahead.read(25, COUNT + 50)[2], id(25).into_bytes());
    }
}
