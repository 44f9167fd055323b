//! `range/N`, `revrange/1`: clients that read entries from all over a stream, or its newest one.

use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::ask::Ask;
use super::entries::fill;
use super::entries::id;
use crate::fault::Fault;
use crate::resp::Reader;

/// Reads entries.
pub(super) struct Range {
    facts: Facts,
    direction: Direction,
    /// Entries that one command reads.
    count: u64,
    pipeline: u32,
}

/// Which way entries are read.
#[derive(Clone, Copy)]
enum Direction {
    /// From a place on.
    Ahead,
    /// From the end.
    Back,
}

pub(super) const RANGE_100: Range = Range {
    facts: Facts {
        name: "range/100",
        brief: "XRANGE of 100 entries",
        question: "How many entries can 50 clients read, 100 with each XRANGE from anywhere in a long stream?",
        unit: Unit::rate("entries/s"),
        target: Target::Times(6.0),
    },
    direction: Direction::Ahead,
    count: 100,
    pipeline: 1,
};

pub(super) const RANGE_1: Range = Range {
    facts: Facts {
        name: "range/1",
        brief: "XRANGE of 1 entry, 16 in each write",
        question: "How many entries can 50 clients look up in a long stream?",
        unit: Unit::rate("entries/s"),
        target: Target::Times(2.5),
    },
    direction: Direction::Ahead,
    count: 1,
    pipeline: 16,
};

pub(super) const REVRANGE_1: Range = Range {
    facts: Facts {
        name: "revrange/1",
        brief: "XREVRANGE of 1 entry, 16 in each write",
        question: "How often can 50 clients read the newest entry of a long stream?",
        ..RANGE_1.facts
    },
    direction: Direction::Back,
    ..RANGE_1
};

impl Workload for Range {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn has_floor(&self) -> bool {
        true
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<(), Fault> {
        fill(site, self.stream_len(site))
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let (direction, count) = (self.direction, self.count);
        let ask = Ask {
            pipeline: self.pipeline,
            units: count,
            places: self.stream_len(site) - count + 1,
            words: move |_, place| direction.words(place, count),
        };
        ask.measure(site, |reply| {
            let entries = Reader::new(reply).array()?;
            Ok(entries.map(|entries| entries as u64) == Some(count))
        })
    }
}

impl Range {
    fn stream_len(&self, site: &Site<'_>) -> u64 {
        site.amount(STREAM_LEN).max(self.count)
    }
}

impl Direction {
    fn words(self, place: u64, count: u64) -> Vec<String> {
        let (name, from, to) = match self {
            Self::Ahead => ("XRANGE", id(place), "+".to_owned()),
            Self::Back => ("XREVRANGE", "+".to_owned(), "-".to_owned()),
        };
        let key = String::from_utf8_lossy(KEY).into_owned();
        let count = count.to_string();
        vec![name.to_owned(), key, from, to, "COUNT".to_owned(), count]
    }
}

/// Entries in the stream of a full run.
const STREAM_LEN: u32 = 500_000;
