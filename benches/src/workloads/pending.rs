//! `pel/...`: what is asked about entries that were delivered and not acknowledged, when those are many.

use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::ask::Ask;
use super::entries::CONSUMERS;
use super::entries::DELIVERED_AT_ONCE;
use super::entries::GROUP;
use super::entries::consumer;
use super::entries::deliver;
use super::entries::fill;
use super::entries::id;
use crate::fault::Fault;
use crate::resp::Reader;

/// Asks about pending entries.
pub(super) struct Pending {
    facts: Facts,
    question: Question,
    /// Units of work that one command is.
    units: u64,
    /// The command looks at no more entries than these from its place on.
    span: u64,
}

/// What is asked.
#[derive(Clone, Copy)]
enum Question {
    /// A consumer reads again what it has.
    Reread,
    /// What is idle is claimed, and nothing is.
    Scan,
    /// Everything is claimed, a hundred at a time.
    Claim,
    /// What is idle is listed, and nothing is.
    Idle,
}

pub(super) const REREAD: Pending = Pending {
    facts: Facts {
        name: "pel/reread",
        brief: "XREADGROUP of 100 pending entries",
        question: "How many of its pending entries can a consumer read again, 100 at a time?",
        unit: Unit::rate("entries/s"),
        target: Target::Times(5.0),
    },
    question: Question::Reread,
    units: DELIVERED_AT_ONCE,
    span: CONSUMERS * DELIVERED_AT_ONCE * 2,
};

pub(super) const SCAN: Pending = Pending {
    facts: Facts {
        name: "pel/scan",
        brief: "XAUTOCLAIM over 10,000, none idle",
        question: "How many pending entries can XAUTOCLAIM COUNT 1000 go through when none is idle?",
        unit: Unit::rate("entries/s"),
        target: Target::Times(100.0),
    },
    question: Question::Scan,
    units: 10_000,
    span: 10_001,
};

pub(super) const CLAIM: Pending = Pending {
    facts: Facts {
        name: "pel/claim",
        brief: "XAUTOCLAIM of 100 entries",
        question: "How many pending entries can be claimed, 100 with each XAUTOCLAIM?",
        unit: Unit::rate("entries/s"),
        target: Target::Times(5.0),
    },
    question: Question::Claim,
    units: 100,
    span: 101,
};

pub(super) const IDLE: Pending = Pending {
    facts: Facts {
        name: "pel/idle",
        brief: "XPENDING IDLE over 500,000, none idle",
        question: "How often can 500,000 pending entries be asked for idle ones when there are none?",
        unit: Unit::rate("commands/s"),
        target: Target::Times(500.0),
    },
    question: Question::Idle,
    units: 1,
    span: 1,
};

impl Workload for Pending {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn has_floor(&self) -> bool {
        true
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<(), Fault> {
        let entries = entries(site);
        fill(site, entries)?;
        deliver(site, entries)
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let question = self.question;
        let ask = Ask {
            pipeline: 1,
            units: self.units,
            places: entries(site) - self.span,
            words: move |client, place| question.words(client, place),
        };
        ask.measure(site, |reply| question.is_answered(reply))
    }
}

impl Question {
    fn words(self, client: u64, place: u64) -> Vec<String> {
        let place = id(place);
        let (key, group) = (String::from_utf8_lossy(KEY), String::from_utf8_lossy(GROUP));
        let consumer = consumer(client % CONSUMERS);
        let words: &[&str] = match self {
            Self::Reread => &[
                "XREADGROUP",
                "GROUP",
                &group,
                &consumer,
                "COUNT",
                "100",
                "STREAMS",
                &key,
                &place,
            ],
            Self::Scan => &[
                "XAUTOCLAIM",
                &key,
                &group,
                &consumer,
                LONG_MS,
                &place,
                "COUNT",
                "1000",
            ],
            Self::Claim => &[
                "XAUTOCLAIM",
                &key,
                &group,
                &consumer,
                "0",
                &place,
                "COUNT",
                "100",
            ],
            Self::Idle => &["XPENDING", &key, &group, "IDLE", LONG_MS, "-", "+", "100"],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }

    /// Whether a reply says what such a question is about.
    fn is_answered(self, reply: &[u8]) -> Result<bool, Fault> {
        let mut reader = Reader::new(reply);
        let expected = match self {
            Self::Reread => {
                reader.array()?;
                reader.array()?;
                reader.bulk()?;
                100
            }
            Self::Scan | Self::Claim => {
                reader.array()?;
                if reader.bulk()? == Some(b"0-0") {
                    return Ok(false);
                }
                match self {
                    Self::Claim => 100,
                    _ => 0,
                }
            }
            Self::Idle => 0,
        };
        Ok(reader.array()? == Some(expected))
    }
}

fn entries(site: &Site<'_>) -> u64 {
    site.amount(ENTRIES).max(ENTRIES_MIN)
}

/// Nothing is idle for an hour.
const LONG_MS: &str = "3600000";

/// Pending entries of a full run.
const ENTRIES: u32 = 500_000;

/// Each command finds as many as it asks for among so many, wherever it begins.
const ENTRIES_MIN: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_that_reached_the_end_was_too_short() {
        let ended = b"*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n";
        let goes_on = b"*3\r\n$3\r\n1-0\r\n*0\r\n*0\r\n";

        assert!(!Question::Scan.is_answered(ended).unwrap());
        assert!(Question::Scan.is_answered(goes_on).unwrap());
        assert!(!Question::Claim.is_answered(goes_on).unwrap());
        assert!(Question::Idle.is_answered(b"*0\r\n").unwrap());
    }
}
