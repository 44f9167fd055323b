//! `memory/entries`: what a server grows by when entries are added.

use super::Sample;
use super::Site;
use super::Unit;
use super::Workload;
use super::entries::fill;
use crate::fault::Fault;
use crate::load::new_histogram;
use crate::server::Server;

/// Fills a new server, as one that was emptied keeps memory that it need not ask for again.
pub(super) struct Memory;

impl Workload for Memory {
    fn name(&self) -> &'static str {
        "memory/entries"
    }

    fn brief(&self) -> &'static str {
        "memory that an entry takes"
    }

    fn question(&self) -> &'static str {
        "How many bytes does a server grow by with each entry of 38 bytes?"
    }

    fn unit(&self) -> Unit {
        Unit::cost("bytes/entry")
    }

    fn starts_servers(&self) -> bool {
        true
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let entries = site.amount(ENTRIES);
        let server = site.start_another()?;
        let before = resident_bytes(&server)?;
        fill(&mut site.at(&server), entries)?;
        let after = resident_bytes(&server)?;

        #[expect(clippy::cast_precision_loss, reason = "a size needs no 16 digits")]
        let value = after.saturating_sub(before) as f64 / entries as f64;
        Ok(Sample {
            value,
            latency: new_histogram(),
        })
    }
}

fn resident_bytes(server: &Server) -> Result<u64, Fault> {
    let usage = server.usage()?;
    usage.map(|usage| usage.memory_bytes).ok_or_else(|| {
        Fault::Unexpected("the system does not tell the memory of a process".to_owned())
    })
}

/// Entries in a full run: enough that what comes with any server is lost among them.
const ENTRIES: u32 = 1_000_000;
