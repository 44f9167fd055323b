//! `startup`: how long a server takes until it has answered.

use std::time::Duration;

use super::Sample;
use super::Site;
use super::Unit;
use super::Workload;
use crate::clock;
use crate::fault::Fault;
use crate::load::new_histogram;
use crate::load::record;

/// Starts servers, one after the other.
pub(super) struct Startup;

impl Workload for Startup {
    fn name(&self) -> &'static str {
        "startup"
    }

    fn brief(&self) -> &'static str {
        "from start to first reply"
    }

    fn question(&self) -> &'static str {
        "How long does it take from starting a server to its first reply?"
    }

    fn unit(&self) -> Unit {
        Unit::cost("ms")
    }

    fn starts_servers(&self) -> bool {
        true
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let starts = site.amount(STARTS);
        let mut latency = new_histogram();
        let mut total = Duration::ZERO;
        for number in 1..=starts {
            let start = clock::now();
            let server = site.start_another()?;
            let time = clock::now() - start;
            drop(server);
            record(&mut latency, time);
            total += time;
            site.advance(number, starts);
        }
        #[expect(clippy::cast_precision_loss, reason = "few are started")]
        let value = total.as_secs_f64() * 1e3 / starts as f64;
        Ok(Sample { value, latency })
    }
}

/// Starts in a full run.
const STARTS: u32 = 20;
