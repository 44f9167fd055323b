//! Makes load: many connections on few threads, each with one request on its way.
//!
//! The server is to be the slower side. So requests are prepared bytes, replies are counted rather than
//! built, and a round trip costs one `write`, one `read`, one look at the clock.
//!
//! The loop is closed: a connection sends when it was answered. Latency is therefore that of a busy
//! server, from the start of a write to the last of its replies.
//!
//! Some connections lead: the load ends when they have said everything. Others are there to be served,
//! such as readers that wait; they begin before the time is taken.

mod connection;
mod crew;

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use hdrhistogram::Histogram;

use self::connection::Answer;
use self::crew::Crew;
use crate::clock;
use crate::fault::Fault;

/// What one connection says: one request, and the next when all replies to it have come.
pub(crate) trait Talker: Send {
    /// Makes the next request ready and returns how many replies it will have; 0 when all is said.
    fn prepare(&mut self) -> u64;

    /// The bytes of the request that was made ready.
    fn request(&self) -> &[u8];

    /// Whether the next request has to wait until others were answered.
    fn is_held(&self) -> bool {
        false
    }

    /// When the next request is due, if that is later than `now`.
    fn held_until(&mut self, _now: Instant) -> Option<Instant> {
        None
    }

    /// How replies are taken in.
    fn hearing(&self) -> Hearing {
        Hearing::Count
    }

    /// Takes the replies to one request, and returns how many units of work that was.
    ///
    /// `replies` is empty unless [`Talker::hearing`] asks for the bytes.
    ///
    /// # Errors
    ///
    /// [`Fault::Unexpected`] if the replies are not what the request asks for.
    fn on_replies(&mut self, replies: &[u8]) -> Result<u64, Fault>;

    /// What a message mostly looks like, so that it need not be looked into; empty if that is not known.
    fn message(&self) -> &[u8] {
        &[]
    }

    /// Takes the replies to one request if it knows by their looks that they are whole and as they should be, and returns
    /// how many units of work that was; others are looked into first.
    fn on_known(&mut self, _replies: &[u8]) -> Option<u64> {
        None
    }

    /// Takes messages that came without having been asked for, and returns how many units those were.
    fn on_messages(&mut self, count: u64) -> u64 {
        count
    }

    /// From when on the time until the replies counts, if it counts; `asked_at` is when the request was
    /// sent.
    fn timed_from(&self, asked_at: Instant) -> Option<Instant> {
        Some(asked_at)
    }
}

/// How replies are taken in, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearing {
    /// All replies to a request have this many bytes together, so that nothing but their first byte is
    /// looked at.
    Bytes(usize),
    /// They are counted, and looked through for errors.
    Count,
    /// They are counted, and the bytes are shown to the talker, which costs a copy.
    Read,
    /// Nothing more will be said: what comes are messages.
    Listen,
}

/// Says the same bytes a number of times.
pub(crate) struct Repeat {
    /// The bytes to send, a pipeline of commands.
    pub(crate) request: Vec<u8>,
    /// How many replies the bytes have.
    pub(crate) replies: u64,
    /// How many units of work that is.
    pub(crate) units: u64,
    /// How many times to send them.
    pub(crate) times: u64,
}

impl Talker for Repeat {
    fn prepare(&mut self) -> u64 {
        let Some(left) = self.times.checked_sub(1) else {
            return 0;
        };
        self.times = left;
        self.replies
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        Ok(self.units)
    }
}

/// Who is on the connections of a load.
#[derive(Default)]
pub(crate) struct Cast {
    /// The load ends when these have said everything.
    pub(crate) leads: Vec<Box<dyn Talker>>,
    /// These begin first. What they are still sent when the load has ended is heard out.
    pub(crate) others: Vec<Box<dyn Talker>>,
}

/// Ends of a measurement, beside that of its work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Nothing is sent after this long; what was done until then counts.
    pub(crate) time_max: Duration,
    /// The measurement fails when no connection hears anything for so long.
    pub(crate) silence_max: Duration,
    /// How many threads share the connections.
    pub(crate) threads: usize,
}

/// What came of a load.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Units of work that were done.
    pub(crate) units: u64,
    /// From the first write to the last reply.
    pub(crate) elapsed: Duration,
    /// From the start of a write to the last of its replies, in nanoseconds.
    pub(crate) latency: Histogram<u64>,
}

/// Lets every talker say what it has to say, each on a connection of its own: those that lead at each of the addresses in
/// turn, the others at the first.
///
/// The time is taken from when `ready` returns, which is called once the others have begun.
/// `on_progress` is given the units of work that are done, some times a second.
///
/// # Errors
///
/// Whatever goes wrong on any connection ends the whole load.
pub(crate) fn drive(
    addresses: &[SocketAddr],
    cast: Cast,
    bounds: Bounds,
    ready: &mut dyn FnMut() -> Result<(), Fault>,
    on_progress: &mut dyn FnMut(u64),
) -> Result<Outcome, Fault> {
    let crews = Crew::connect_all(addresses, cast, bounds)?;
    ready()?;

    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        let count = crews.len();
        let (sender, receiver) = sync_channel(count);
        let start = clock::now();
        for crew in crews {
            let sender: SyncSender<_> = sender.clone();
            let done = &done;
            // The receiver leaves early only when another crew has failed.
            scope.spawn(move || drop(sender.send(crew.run(start, done))));
        }
        drop(sender);

        let mut total = Outcome::new();
        loop {
            match receiver.recv_timeout(PROGRESS_EVERY) {
                Ok(outcome) => total.add(&outcome?)?,
                Err(RecvTimeoutError::Timeout) => on_progress(done.load(Ordering::Relaxed)),
                Err(RecvTimeoutError::Disconnected) => return Ok(total),
            }
        }
    })
}

impl Outcome {
    fn new() -> Self {
        Self {
            units: 0,
            elapsed: Duration::ZERO,
            latency: new_histogram(),
        }
    }

    fn on_answer(&mut self, answer: &Answer, start: Instant) {
        if answer.units > 0 {
            self.units += answer.units;
            self.elapsed = answer.at - start;
        }
        if let Some(from) = answer.timed_from {
            record(&mut self.latency, answer.at.saturating_duration_since(from));
        }
    }

    /// Adds what another thread did at the same time.
    fn add(&mut self, other: &Self) -> Result<(), Fault> {
        self.units += other.units;
        self.elapsed = self.elapsed.max(other.elapsed);
        self.latency
            .add(&other.latency)
            .map_err(|error| Fault::Unexpected(format!("latencies do not add up: {error:?}")))
    }

    /// Returns units of work per second.
    pub(crate) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 16 digits")]
        let units = self.units as f64;
        units / self.elapsed.as_secs_f64().max(f64::EPSILON)
    }
}

/// Returns an empty histogram of nanoseconds.
pub(crate) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NANOS_MAX, SIGNIFICANT_DIGITS)
        .expect("a minute with three digits is within what a histogram takes")
}

/// Records a time in a histogram of nanoseconds.
pub(crate) fn record(latency: &mut Histogram<u64>, time: Duration) {
    latency.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

/// Above this a latency is no longer told apart: a minute, longer than silence is borne.
const LATENCY_NANOS_MAX: u64 = 60_000_000_000;

/// How exact latencies are kept.
const SIGNIFICANT_DIGITS: u8 = 3;

/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
