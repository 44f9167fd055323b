//! `hostile/...`: how long a client waits for its replies while others mean harm.
//!
//! The answer that would be bad news: a row of twice what `hostile/quiet` says.

mod attacks;

use std::net::SocketAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::entries::push_add;
use crate::fault::Fault;
use crate::load::Repeat;

/// Asks a server that is under attack.
pub(super) struct Hostile {
    name: &'static str,
    brief: &'static str,
    begin: Begin,
}

const fn hostile(name: &'static str, brief: &'static str, begin: Begin) -> Hostile {
    Hostile { name, brief, begin }
}

pub(super) const QUIET: Hostile =
    hostile("hostile/quiet", "nobody else is there", attacks::nothing);
pub(super) const IDLE: Hostile = hostile("hostile/idle", "10,000 idle clients", attacks::crowd);
pub(super) const HALF: Hostile = hostile(
    "hostile/half",
    "500 have sent half a command",
    attacks::halves,
);
pub(super) const PROMISE: Hostile = hostile(
    "hostile/promise",
    "500 promise half a gigabyte",
    attacks::promises,
);
pub(super) const DRIP: Hostile =
    hostile("hostile/drip", "500 send a byte at a time", attacks::drip);
pub(super) const UNREAD: Hostile = hostile(
    "hostile/unread",
    "100 MB of replies are not read",
    attacks::unread,
);
pub(super) const DEAF: Hostile =
    hostile("hostile/deaf", "50 subscribers do not read", attacks::deaf);
pub(super) const NOISE: Hostile = hostile(
    "hostile/noise",
    "800 a second come with noise",
    attacks::noise,
);

/// What the others do.
pub(super) trait Attack: Send {
    /// Goes on, some hundred times a second.
    fn step(&mut self) {}
}

/// Lays out an attack on the server there.
type Begin = fn(SocketAddr) -> Result<Box<dyn Attack>, Fault>;

impl Workload for Hostile {
    fn facts(&self) -> Facts {
        Facts {
            name: self.name,
            brief: self.brief,
            question: "How long do 99 of 100 XADDs of one client take at most, while others do that?",
            unit: Unit::cost("us, p99"),
            target: Target::Times(1.0),
        }
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
        let mut request = Vec::new();
        push_add(&mut request, KEY, &[b"*"], 0, 0);
        let asking = Repeat {
            request,
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
