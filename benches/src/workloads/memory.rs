//! `mem/...`: how much fits into the memory that a server grows by, and what it gives back.

use std::thread;
use std::time::Duration;

use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::ask::pick;
use super::entries::deliver;
use super::entries::fill;
use super::entries::fill_with;
use super::entries::id;
use super::entries::lay_out;
use super::entries::push_xadd;
use crate::fault::Fault;
use crate::load::new_histogram;
use crate::resp::push_bulk;
use crate::resp::push_header;
use crate::server::Server;

/// Fills a new server, as one that was emptied keeps memory that it need not ask for again.
pub(super) struct Memory {
    facts: Facts,
    content: Content,
    /// Entries in a full run: enough that what comes with any server is lost among them.
    entries: u32,
}

/// What a server is filled with.
#[derive(Clone, Copy)]
enum Content {
    /// Two fields, 38 bytes of values.
    Small,
    /// One field, a text of 250 bytes.
    Json,
    /// Eight fields, each a small integer.
    Ints,
    /// What consumers have pending; the entries themselves do not count.
    Pending,
    /// Small entries, almost all of which are deleted.
    Deleted,
}

pub(super) const SMALL: Memory = Memory {
    facts: Facts {
        name: "mem/small",
        brief: "memory of entries with 2 small fields",
        question: "How many entries with 38 bytes in two fields does a server hold in a megabyte?",
        unit: Unit::rate("entries/MB"),
        target: Target::Times(1.1),
    },
    content: Content::Small,
    entries: 1_000_000,
};

pub(super) const JSON: Memory = Memory {
    facts: Facts {
        name: "mem/json",
        brief: "memory of entries with 250 bytes of JSON",
        question: "How many entries with one field of 250 bytes of JSON does a server hold in a megabyte?",
        target: Target::Times(2.0),
        ..SMALL.facts
    },
    content: Content::Json,
    entries: 300_000,
};

pub(super) const INTS: Memory = Memory {
    facts: Facts {
        name: "mem/ints",
        brief: "memory of entries with 8 small integers",
        question: "How many entries with eight small integers does a server hold in a megabyte?",
        target: Target::Times(1.2),
        ..SMALL.facts
    },
    content: Content::Ints,
    entries: 1_000_000,
};

pub(super) const PENDING: Memory = Memory {
    facts: Facts {
        name: "mem/pending",
        brief: "memory of pending entries",
        question: "How many entries that ten consumers have pending does a server keep in a megabyte?",
        target: Target::Times(3.5),
        ..SMALL.facts
    },
    content: Content::Pending,
    entries: 1_000_000,
};

pub(super) const XDEL: Memory = Memory {
    facts: Facts {
        name: "mem/xdel",
        brief: "memory given back by XDEL of 99 %",
        question: "Which part of the memory comes back when 99 of every 100 entries are deleted?",
        unit: Unit::rate("of it all"),
        target: Target::Figure(0.9),
    },
    content: Content::Deleted,
    entries: 1_000_000,
};

impl Workload for Memory {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn starts_servers(&self) -> bool {
        true
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let entries = site.amount(self.entries);
        let server = site.start_another()?;
        let mut site = site.at(&server);
        let empty = resident_bytes(&server)?;
        let value = match self.content {
            Content::Small => {
                fill(&mut site, entries)?;
                per_megabyte(entries, resident_bytes(&server)? - empty)
            }
            Content::Json => {
                fill_with(&mut site, entries, |out, id, number| {
                    push_xadd(out, KEY, &[id], &[b"event", &json(number)]);
                })?;
                per_megabyte(entries, resident_bytes(&server)? - empty)
            }
            Content::Ints => {
                fill_with(&mut site, entries, push_integers)?;
                per_megabyte(entries, resident_bytes(&server)? - empty)
            }
            Content::Pending => {
                fill(&mut site, entries)?;
                let filled = resident_bytes(&server)?;
                deliver(&mut site, entries)?;
                per_megabyte(entries, resident_bytes(&server)? - filled)
            }
            Content::Deleted => {
                fill(&mut site, entries)?;
                let filled = resident_bytes(&server)?;
                delete(&mut site, entries)?;
                settle();
                let left = resident_bytes(&server)?;
                (filled - left) / (filled - empty).max(1.0)
            }
        };
        Ok(Sample {
            value: value.max(0.0),
            latency: new_histogram(),
        })
    }
}

fn resident_bytes(server: &Server) -> Result<f64, Fault> {
    #[expect(clippy::cast_precision_loss, reason = "a size needs no 16 digits")]
    let bytes = server.usage()?.map(|usage| usage.memory_bytes as f64);
    bytes.ok_or_else(|| {
        Fault::Unexpected("the system does not tell the memory of a process".to_owned())
    })
}

fn per_megabyte(entries: u64, bytes: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a size needs no 16 digits")]
    let entries = entries as f64;
    entries / bytes.max(1.0) * 1e6
}

/// An order as shops send it; much of it is the same in all, and some of it in none.
fn json(number: u64) -> Vec<u8> {
    let mut chance = number;
    let mut below = |bound: u64| pick(&mut chance) % bound;
    let status = match below(4) {
        0 => "placed",
        1 => "packed",
        2 => "posted",
        _ => "closed",
    };
    let (quantity, price) = (2 + below(8), 50_000 + below(50_000));
    let text = format!(
        "{{\"order\":\"A-{number:09}\",\"customer\":{:06},\"status\":\"{status}\",\"items\":[{{\
         \"sku\":\"K-{:04}\",\"quantity\":{quantity},\"price\":{price}}}],\"total\":{},\
         \"currency\":\"EUR\",\"placed_at\":\"2026-11-29T{:02}:{:02}:{:02}.{:03}Z\",\
         \"trace\":\"{:016x}\",\"source\":\"eu-shop-1\",\"gift_wrap\":false}}",
        100_000 + below(900_000),
        below(10_000),
        quantity * price,
        below(24),
        below(60),
        below(60),
        below(1_000),
        below(u64::MAX),
    );
    text.into_bytes()
}

/// What a device tells about itself.
fn push_integers(out: &mut Vec<u8>, id: &[u8], number: u64) {
    let mut chance = number;
    let values = INTEGERS.map(|(_, bound)| (pick(&mut chance) % bound).to_string());
    let mut fields: Vec<&[u8]> = Vec::with_capacity(2 * INTEGERS.len());
    for ((name, _), value) in INTEGERS.iter().zip(&values) {
        fields.extend([name.as_bytes(), value.as_bytes()]);
    }
    push_xadd(out, KEY, &[id], &fields);
}

/// Deletes all but the last of every hundred entries.
fn delete(site: &mut Site<'_>, entries: u64) -> Result<(), Fault> {
    lay_out(site, entries / 100, 10, |out, number| {
        push_header(out, 2 + 99);
        push_bulk(out, b"XDEL");
        push_bulk(out, KEY);
        for entry in number * 100..number * 100 + 99 {
            push_bulk(out, id(entry).as_bytes());
        }
    })
}

/// Gives a server the time to notice that it can do without some memory.
#[expect(
    clippy::disallowed_methods,
    reason = "what a server does by itself takes real time"
)]
fn settle() {
    thread::sleep(Duration::from_secs(3));
}

/// Names of integers, and what they are below.
const INTEGERS: [(&str, u64); 8] = [
    ("x", 1_000),
    ("y", 1_000),
    ("z", 100),
    ("speed", 200),
    ("heading", 360),
    ("battery", 101),
    ("load", 50),
    ("errors", 10),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_json_text_has_250_bytes() {
        for number in [0, 1, 999, 123_456_789] {
            let text = json(number);
            assert_eq!(text.len(), 250, "{}", String::from_utf8_lossy(&text));
            assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok());
        }
    }
}
