//! The workloads: one row of the report each.
//!
//! A new one is a struct that implements [`Workload`], in a file of its own or beside its like, and a
//! line in [`ALL`].

mod add;
mod entries;
mod group;
mod hostile;
mod memory;
mod range;
mod startup;

use std::net::SocketAddr;

use hdrhistogram::Histogram;

use self::hostile::Hostile;
use self::range::Direction;
use crate::control::Control;
use crate::fault::Fault;
use crate::load::Bounds;
use crate::load::Outcome;
use crate::load::Talker;
use crate::load::drive;
use crate::server::Server;

/// All workloads, in the order of the report.
pub(crate) const ALL: &[&dyn Workload] = &[
    &add::Add::new(1, "add/p1", "XADD, one in each write"),
    &add::Add::new(16, "add/p16", "XADD, 16 in each write"),
    &add::Add::new(64, "add/p64", "XADD, 64 in each write"),
    &range::Range::new(Direction::Ahead, "range/100"),
    &range::Range::new(Direction::Back, "revrange/100"),
    &group::Group::new(10, "group/10"),
    &memory::Memory,
    &startup::Startup,
    &Hostile::new("hostile/quiet", "nobody else is there", hostile::nothing),
    &Hostile::new("hostile/idle", "10,000 idle clients", hostile::crowd),
    &Hostile::new(
        "hostile/half",
        "500 have sent half a command",
        hostile::halves,
    ),
    &Hostile::new(
        "hostile/promise",
        "500 promise half a gigabyte",
        hostile::promises,
    ),
    &Hostile::new("hostile/drip", "500 send a byte at a time", hostile::drip),
    &Hostile::new(
        "hostile/unread",
        "100 MB of replies are not read",
        hostile::unread,
    ),
    &Hostile::new("hostile/deaf", "50 subscribers do not read", hostile::deaf),
    &Hostile::new(
        "hostile/noise",
        "800 a second come with noise",
        hostile::noise,
    ),
];

/// Something that both servers are asked to do.
///
/// Each run gets a server whose key [`KEY`] does not exist.
pub(crate) trait Workload: Sync {
    /// A short name, `what/variant`.
    fn name(&self) -> &'static str;

    /// What is done, in the few words that fit beside a bar of the chart.
    fn brief(&self) -> &'static str;

    /// What is asked, for people: one sentence.
    fn question(&self) -> &'static str;

    /// The unit of the figure.
    fn unit(&self) -> Unit;

    /// Whether it starts servers of its own, so that a server that runs already cannot do it.
    fn starts_servers(&self) -> bool {
        false
    }

    /// Whether it runs only if it is asked for by name: it is not about how fast a server is.
    fn is_asked_for(&self) -> bool {
        false
    }

    /// Lays out what a run needs; not measured.
    ///
    /// # Errors
    ///
    /// Whatever the server or the connection to it does wrong.
    fn prepare(&self, _site: &mut Site<'_>) -> Result<(), Fault> {
        Ok(())
    }

    /// Does the work.
    ///
    /// # Errors
    ///
    /// Whatever the server or the connection to it does wrong.
    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault>;
}

/// What came of a run.
pub(crate) struct Sample {
    /// In the unit of the workload.
    pub(crate) value: f64,
    /// In nanoseconds.
    pub(crate) latency: Histogram<u64>,
}

impl From<Outcome> for Sample {
    fn from(outcome: Outcome) -> Self {
        Self {
            value: outcome.rate(),
            latency: outcome.latency,
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) more_is_better: bool,
}

impl Unit {
    /// A unit of which more is better.
    pub(crate) const fn rate(name: &'static str) -> Self {
        Self {
            name,
            more_is_better: true,
        }
    }

    /// A unit of which less is better.
    pub(crate) const fn cost(name: &'static str) -> Self {
        Self {
            name,
            more_is_better: false,
        }
    }
}

/// Where a run takes place.
pub(crate) struct Site<'a> {
    server: &'a Server,
    scale: f64,
    bounds: Bounds,
    on_progress: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Site<'a> {
    /// `on_progress` is given the units that are done, and how many there will be.
    pub(crate) fn new(
        server: &'a Server,
        scale: f64,
        bounds: Bounds,
        on_progress: &'a mut dyn FnMut(u64, u64),
    ) -> Self {
        Self {
            server,
            scale,
            bounds,
            on_progress,
        }
    }

    /// Returns an amount of work for this run, at least 1.
    pub(crate) fn amount(&self, full: u32) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "neither factor is negative, and a product out of bounds is cut"
        )]
        let scaled = (f64::from(full) * self.scale) as u64;
        scaled.max(1)
    }

    /// Starts one more server of the same kind, which ends with the value.
    pub(crate) fn start_another(&self) -> Result<Server, Fault> {
        self.server.start_another()
    }

    /// Returns this site at another server.
    pub(crate) fn at<'b>(&'b mut self, server: &'b Server) -> Site<'b> {
        Site {
            server,
            scale: self.scale,
            bounds: self.bounds,
            on_progress: self.on_progress,
        }
    }

    /// Tells how far the run is, where no load does.
    pub(crate) fn advance(&mut self, done: u64, of: u64) {
        (self.on_progress)(done, of);
    }

    /// Opens a connection for what is not measured.
    pub(crate) fn control(&self) -> Result<Control, Fault> {
        self.server.control()
    }

    /// Makes a load of about `units`.
    pub(crate) fn load(
        &mut self,
        talkers: Vec<Box<dyn Talker>>,
        units: u64,
    ) -> Result<Outcome, Fault> {
        let address: SocketAddr = self.server.address();
        let on_progress = &mut self.on_progress;
        drive(address, talkers, self.bounds, &mut |done| {
            on_progress(done, units);
        })
    }

    /// Removes what a run lays out.
    pub(crate) fn clear(&self) -> Result<(), Fault> {
        self.control()?.call(&[b"DEL", KEY]).map(drop)
    }
}

/// The one key of most workloads; nothing else is touched on a server that runs already.
pub(crate) const KEY: &[u8] = b"tailrace-bench";

/// How many clients make a load, where the workload is not about their number.
pub(crate) const CONNECTIONS: u16 = 50;
