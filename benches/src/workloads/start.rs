//! `start`: how many servers can be started, one after the other.

use std::time::Duration;

use super::Facts;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use crate::clock;
use crate::fault::Fault;
use crate::load::new_histogram;
use crate::load::record;

/// Starts servers, each when the one before has answered.
pub(super) struct Start;

pub(super) const START: Start = Start;

impl Workload for Start {
    fn facts(&self) -> Facts {
        Facts {
            name: "start",
            brief: "from start to first reply",
            question: "How many servers can be started in a second, each until it answers PING?",
            unit: Unit::rate("starts/s"),
            target: Target::Times(10.0),
        }
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
        let value = starts as f64 / total.as_secs_f64().max(f64::EPSILON);
        Ok(Sample { value, latency })
    }
}

/// Starts in a full run.
const STARTS: u32 = 20;
