//! `hostile/...`: how long a client waits for its replies while others mean harm.
//!
//! The answer that would be bad news: a row of twice what `hostile/quiet` says.

mod attacks;

use std::net::SocketAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

pub(super) use self::attacks::crowd;
pub(super) use self::attacks::deaf;
pub(super) use self::attacks::drip;
pub(super) use self::attacks::halves;
pub(super) use self::attacks::noise;
pub(super) use self::attacks::nothing;
pub(super) use self::attacks::promises;
pub(super) use self::attacks::unread;
use super::Sample;
use super::Site;
use super::Unit;
use super::Workload;
use super::entries::adds;
use crate::fault::Fault;
use crate::load::Repeat;

/// Asks a server that is under attack.
pub(super) struct Hostile {
    name: &'static str,
    brief: &'static str,
    begin: Begin,
}

/// What the others do.
pub(super) trait Attack: Send {
    /// Goes on, some hundred times a second.
    fn step(&mut self) {}
}

/// Lays out an attack on the server there.
type Begin = fn(SocketAddr) -> Result<Box<dyn Attack>, Fault>;

impl Hostile {
    /// Asks while that goes on.
    pub(super) const fn new(name: &'static str, brief: &'static str, begin: Begin) -> Self {
        Self { name, brief, begin }
    }
}

impl Workload for Hostile {
    fn name(&self) -> &'static str {
        self.name
    }

    fn brief(&self) -> &'static str {
        self.brief
    }

    fn question(&self) -> &'static str {
        "How long do 99 of 100 additions of one client take at most, while others do that?"
    }

    fn unit(&self) -> Unit {
        Unit::cost("us, p99")
    }

    fn starts_servers(&self) -> bool {
        true
    }

    fn is_asked_for(&self) -> bool {
        true
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let times = site.amount(REQUESTS);
        let server = site.start_another()?;
        let mut attack = (self.begin)(server.address())?;
        let asking = Repeat {
            request: adds(1, 0),
            replies: 1,
            units: 1,
            times,
        };
        let mut at_server = site.at(&server);
        let outcome = thread::scope(|scope| {
            let (end, ended) = sync_channel::<()>(0);
            scope.spawn(move || {
                while ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                    attack.step();
                }
            });
            let outcome = at_server.load(vec![Box::new(asking)], times);
            drop(end);
            outcome
        })?;
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let value = outcome.latency.value_at_quantile(0.99) as f64 / 1e3;
        Ok(Sample {
            value,
            latency: outcome.latency,
        })
    }
}

/// Requests of a full run.
const REQUESTS: u32 = 100_000;
/// The time from one step of an attack to the next.
const PACE: Duration = Duration::from_millis(5);
