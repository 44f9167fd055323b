//! `add/pN`: clients that add entries, N commands in a write; `multi/10`: ten adds in a transaction.

use super::CONNECTIONS;
use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::entries::push_add;
use super::keys;
use crate::fault::Fault;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::push_command;

/// Adds entries.
pub(crate) struct Add {
    facts: Facts,
    /// Commands that add, in each write.
    pub(super) adds: u32,
    form: Form,
}

/// What a write looks like.
#[derive(Clone, Copy)]
enum Form {
    /// Adds to one stream.
    Plain,
    /// Adds to each of many streams in turn.
    ManyKeys,
    /// Adds that keep the stream short.
    Trimmed,
    /// A transaction of adds.
    Transaction,
}

pub(super) const P1: Add = Add::new("add/p1", "XADD, one in each write", 1, 1.15);
pub(super) const P16: Add = Add::new("add/p16", "XADD, 16 in each write", 16, 2.8);
pub(super) const P64: Add = Add::new("add/p64", "XADD, 64 in each write", 64, 3.5);

pub(super) const KEYS: Add = Add {
    facts: Facts {
        question: "How many entries can 50 clients add, each write to 64 streams?",
        ..Add::new("add/p64/keys64", "XADD to 64 streams in turn", 64, 3.0).facts
    },
    form: Form::ManyKeys,
    ..P64
};

pub(super) const MAXLEN: Add = Add {
    facts: Facts {
        question: "How many entries can 50 clients add to a stream that they trim?",
        ..Add::new("add/p64/maxlen", "XADD with MAXLEN ~ 10000", 64, 3.5).facts
    },
    form: Form::Trimmed,
    ..P64
};

pub(super) const MULTI: Add = Add {
    facts: Facts {
        question: "How many entries can 50 clients add, ten in each transaction?",
        ..Add::new("multi/10", "MULTI, ten XADD, EXEC", 10, 2.0).facts
    },
    form: Form::Transaction,
    adds: 10,
};

impl Add {
    const fn new(name: &'static str, brief: &'static str, adds: u32, target: f64) -> Self {
        Self {
            facts: Facts {
                name,
                brief,
                question: "How many entries of 2 fields and 38 bytes can 50 clients add to a stream?",
                unit: Unit::rate("entries/s"),
                target: Target::Times(target),
            },
            adds,
            form: Form::Plain,
        }
    }

    /// Returns what a client says, and how many replies that has.
    ///
    /// The number of the client makes its values differ from those of another.
    fn request(&self, client: u16) -> (Vec<u8>, u64) {
        let mut out = Vec::new();
        let adds = self.adds.into();
        let mut add = |key: &[u8], options: &[&[u8]], number| {
            push_add(&mut out, key, options, client, number);
        };
        match self.form {
            Form::Plain => (0..adds).for_each(|number| add(KEY, &[b"*"], number)),
            Form::ManyKeys => {
                let keys = keys().cycle().skip(client.into());
                for (number, key) in (0..adds).zip(keys) {
                    add(&key, &[b"*"], number);
                }
            }
            Form::Trimmed => {
                let options: &[&[u8]] = &[b"MAXLEN", b"~", b"10000", b"*"];
                (0..adds).for_each(|number| add(KEY, options, number));
            }
            Form::Transaction => {
                let mut whole = Vec::new();
                push_command(&mut whole, &[b"MULTI"]);
                (0..adds).for_each(|number| add(KEY, &[b"*"], number));
                whole.append(&mut out);
                push_command(&mut whole, &[b"EXEC"]);
                return (whole, adds + 2);
            }
        }
        (out, adds)
    }
}

impl Workload for Add {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn has_floor(&self) -> bool {
        true
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let each = u64::from(self.adds);
        let times = site.amount(ENTRIES).div_ceil(each * u64::from(CONNECTIONS));
        let client = |number| -> Box<dyn Talker> {
            let (request, replies) = self.request(number);
            Box::new(Repeat {
                request,
                replies,
                units: each,
                times,
            })
        };
        let clients = (0..CONNECTIONS).map(client).collect();
        let entries = times * each * u64::from(CONNECTIONS);
        site.load(clients, entries).map(Sample::from)
    }
}

/// Entries that a full run adds.
pub(super) const ENTRIES: u32 = 2_000_000;

#[cfg(test)]
mod tests {
    use super::super::entries::tests::words;
    use super::*;
    use crate::resp::Reader;

    #[test]
    fn an_entry_has_two_fields_and_38_bytes_of_values() {
        let (bytes, replies) = P16.request(49);
        let mut reader = Reader::new(&bytes);

        assert_eq!(replies, 16);
        for _ in 0..replies {
            let words = words(&mut reader);
            assert_eq!(words[..4], ["XADD", "tailrace-bench", "*", "device"]);
            assert_eq!(words[4].len() + words[6].len(), 38);
        }
        assert!(reader.array().is_err(), "nothing follows");
    }

    #[test]
    fn a_write_goes_to_each_of_many_streams() {
        let (bytes, _) = KEYS.request(63);
        let mut reader = Reader::new(&bytes);

        let mut all: Vec<String> = (0..64).map(|_| words(&mut reader)[1].clone()).collect();
        assert_eq!(all[..2], ["tailrace-bench:63", "tailrace-bench:00"]);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 64);
    }

    #[test]
    fn a_transaction_has_two_more_replies_than_adds() {
        let (bytes, replies) = MULTI.request(0);
        let mut reader = Reader::new(&bytes);

        assert_eq!(replies, 12);
        assert_eq!(words(&mut reader), ["MULTI"]);
        assert_eq!((0..10).map(|_| words(&mut reader)).count(), 10);
        assert_eq!(words(&mut reader), ["EXEC"]);
    }
}
