//! `add/pN`: clients that add entries to one stream, N commands in a write.

use super::CONNECTIONS;
use super::Sample;
use super::Site;
use super::Unit;
use super::Workload;
use super::entries::adds;
use crate::fault::Fault;
use crate::load::Repeat;
use crate::load::Talker;

/// Adds entries.
pub(super) struct Add {
    pipeline: u32,
    name: &'static str,
    brief: &'static str,
}

impl Add {
    /// Adds with so many commands in a write.
    pub(super) const fn new(pipeline: u32, name: &'static str, brief: &'static str) -> Self {
        Self {
            pipeline,
            name,
            brief,
        }
    }
}

impl Workload for Add {
    fn name(&self) -> &'static str {
        self.name
    }

    fn brief(&self) -> &'static str {
        self.brief
    }

    fn question(&self) -> &'static str {
        "How many entries of 2 fields and 38 bytes can 50 clients add to a stream?"
    }

    fn unit(&self) -> Unit {
        Unit::rate("entries/s")
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let entries = site.amount(ENTRIES);
        let pipeline = u64::from(self.pipeline);
        let times = entries.div_ceil(pipeline * u64::from(CONNECTIONS));
        let client = |number| -> Box<dyn Talker> {
            Box::new(Repeat {
                request: adds(self.pipeline, number),
                replies: pipeline,
                units: pipeline,
                times,
            })
        };
        let clients = (0..CONNECTIONS).map(client).collect();
        let entries = times * pipeline * u64::from(CONNECTIONS);
        site.load(clients, entries).map(Sample::from)
    }
}

/// Entries that a full run adds.
const ENTRIES: u32 = 2_000_000;
