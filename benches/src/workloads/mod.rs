//! The workloads: one row of the report each.
//!
//! A new one is a constant of a struct that implements [`Workload`], in a file of its own or beside its
//! like, and a line in [`ALL`].

mod add;
mod ask;
mod entries;
mod facts;
mod group;
mod hostile;
mod memory;
mod pending;
mod publish;
mod range;
mod script;
pub(crate) mod spread;
mod start;
mod wait;

use std::net::SocketAddr;
use std::time::Duration;

use hdrhistogram::Histogram;

pub(crate) use self::entries::GROUP;
pub(crate) use self::entries::push_add;
pub(crate) use self::facts::Facts;
pub(crate) use self::facts::Target;
pub(crate) use self::facts::Unit;
pub(crate) use self::group::Consumer;
use crate::clock;
use crate::control::Control;
use crate::fault::Fault;
use crate::load::Bounds;
use crate::load::Cast;
use crate::load::Outcome;
use crate::load::Talker;
use crate::load::drive;
use crate::server::Server;

/// All workloads, in the order of the report.
pub(crate) const ALL: &[&dyn Workload] = &[
    &add::P1,
    &add::P16,
    &add::P64,
    &add::KEYS,
    &add::MAXLEN,
    &add::MULTI,
    &script::EVALSHA,
    &range::RANGE_100,
    &range::RANGE_1,
    &range::REVRANGE_1,
    &group::BY_1,
    &group::BY_10,
    &group::BY_100,
    &pending::REREAD,
    &pending::SCAN,
    &pending::CLAIM,
    &pending::IDLE,
    &wait::WAKE_P50,
    &wait::WAKE_P99,
    &wait::WAITERS,
    &wait::FANOUT,
    &publish::TO_1,
    &publish::TO_100,
    &publish::TO_1000,
    &memory::SMALL,
    &memory::JSON,
    &memory::INTS,
    &memory::PENDING,
    &memory::XDEL,
    &start::START,
    &hostile::QUIET,
    &hostile::IDLE,
    &hostile::HALF,
    &hostile::PROMISE,
    &hostile::DRIP,
    &hostile::UNREAD,
    &hostile::DEAF,
    &hostile::NOISE,
];

/// Something that both servers are asked to do.
///
/// Each run gets a server on which no key of [`keys`] exists.
pub(crate) trait Workload: Sync {
    /// What it is, and what is hoped for.
    fn facts(&self) -> Facts;

    /// Whether it starts servers of its own, so that a server that runs already cannot do it.
    fn starts_servers(&self) -> bool {
        false
    }

    /// Whether it runs only if it is asked for by name: it is not about how fast a server is.
    fn is_asked_for(&self) -> bool {
        false
    }

    /// Whether a server that only parses can do it: its replies are constants.
    fn has_floor(&self) -> bool {
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
        leads: Vec<Box<dyn Talker>>,
        units: u64,
    ) -> Result<Outcome, Fault> {
        let cast = Cast {
            leads,
            ..Cast::default()
        };
        self.play(cast, units, &mut || Ok(()))
    }

    /// Makes a load of about `units`, some of whose clients are there before it begins.
    pub(crate) fn play(
        &mut self,
        cast: Cast,
        units: u64,
        ready: &mut dyn FnMut() -> Result<(), Fault>,
    ) -> Result<Outcome, Fault> {
        let address: SocketAddr = self.server.address();
        let on_progress = &mut self.on_progress;
        drive(&[address], cast, self.bounds, ready, &mut |done| {
            on_progress(done, units);
        })
    }

    /// As [`Site::load`], of clients that are at each of these addresses in turn.
    fn load_over(
        &mut self,
        addresses: &[SocketAddr],
        leads: Vec<Box<dyn Talker>>,
        units: u64,
    ) -> Result<Outcome, Fault> {
        let cast = Cast {
            leads,
            ..Cast::default()
        };
        let on_progress = &mut self.on_progress;
        drive(addresses, cast, self.bounds, &mut || Ok(()), &mut |done| {
            on_progress(done, units);
        })
    }

    /// As [`Site::load`], for a time in place of an amount of work.
    pub(crate) fn load_for_a_while(
        &mut self,
        leads: Vec<Box<dyn Talker>>,
    ) -> Result<Outcome, Fault> {
        let cast = Cast {
            leads,
            ..Cast::default()
        };
        self.play_for_a_while(cast, &mut || Ok(()))
    }

    /// As [`Site::play`], for a time in place of an amount of work.
    pub(crate) fn play_for_a_while(
        &mut self,
        cast: Cast,
        ready: &mut dyn FnMut() -> Result<(), Fault>,
    ) -> Result<Outcome, Fault> {
        let time = A_WHILE
            .mul_f64(self.scale)
            .clamp(A_WHILE_MIN, self.bounds.time_max);
        let bounds = Bounds {
            time_max: time,
            ..self.bounds
        };
        let on_progress = &mut self.on_progress;
        let start = clock::now();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        drive(&[self.server.address()], cast, bounds, ready, &mut |_| {
            on_progress(millis(clock::now() - start), millis(time));
        })
    }

    /// Removes what a run lays out.
    pub(crate) fn clear(&self) -> Result<(), Fault> {
        let keys: Vec<Vec<u8>> = keys().collect();
        let words = [&b"DEL"[..], KEY].into_iter();
        let words: Vec<&[u8]> = words.chain(keys.iter().map(Vec::as_slice)).collect();
        self.control()?.call(&words).map(drop)
    }
}

/// The keys of a workload that has many.
pub(crate) fn keys() -> impl Iterator<Item = Vec<u8>> + Clone {
    (0..KEYS).map(|number| [KEY, format!(":{number:02}").as_bytes()].concat())
}

/// The one key of most workloads; nothing beside it and [`keys`] is touched on a server that runs already.
pub(crate) const KEY: &[u8] = b"tailrace-bench";

/// How long a full run takes that is about what happens in a time.
const A_WHILE: Duration = Duration::from_secs(2);

/// However small the scale, something is to happen.
const A_WHILE_MIN: Duration = Duration::from_millis(20);

/// How many streams there are, where there are many.
pub(crate) const KEYS: u32 = 64;

/// How many clients make a load, where the workload is not about their number.
pub(crate) const CONNECTIONS: u16 = 50;
