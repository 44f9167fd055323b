//! The one place that reads a clock.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tailrace_storage::UnixMicros;
use tailrace_storage::UnixMillis;
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// A source of time.
pub trait Clock: Send + Sync + 'static {
    /// Both clocks, read together.
    fn now(&self) -> Now;

    /// The monotonic clock alone, which is half the work.
    fn mono(&self) -> Instant {
        self.now().mono
    }

    /// For a clock that is moved by others: told so when it was. The timer looks at what is due then.
    fn moved(&self) -> Option<Arc<Notify>> {
        None
    }

    /// How long to sleep until the clock will show `deadline`; nothing if it never will by itself.
    fn real_time_until(&self, deadline: Instant) -> Option<Duration> {
        let micros = deadline.0.saturating_sub(self.mono().0);
        Some(Duration::from_micros(micros))
    }
}

/// The host's clocks.
#[derive(Debug)]
pub struct SystemClock {
    started: std::time::Instant,
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads a clock"
)]
impl SystemClock {
    /// A clock whose monotonic zero is this moment.
    #[expect(
        clippy::new_without_default,
        reason = "reading the time is not a default value"
    )]
    pub fn new() -> Self {
        Self {
            started: std::time::Instant::now(),
        }
    }

    fn micros(duration: Duration) -> u64 {
        // Sixty-four bits last for half a million years, and are counted in faster than more of them.
        duration.as_secs() * 1_000_000 + u64::from(duration.subsec_micros())
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads a clock"
    )]
    fn now(&self) -> Now {
        let unix = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            wall: UnixMicros(Self::micros(unix)),
            mono: self.mono(),
        }
    }

    fn mono(&self) -> Instant {
        Instant(Self::micros(self.started.elapsed()))
    }
}

/// Tokio's clock, which a test can pause and move; the wall goes on from what the host's shows at first.
pub(crate) struct TokioClock {
    runtime: Handle,
    started: tokio::time::Instant,
    started_wall: UnixMicros,
}

impl TokioClock {
    /// A clock whose monotonic zero is this moment. Must be made on a thread of `runtime`.
    pub(crate) fn on(runtime: Handle) -> Self {
        Self {
            runtime,
            started: tokio::time::Instant::now(),
            started_wall: SystemClock::new().now().wall,
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Now {
        // Each runtime has a time of its own, and threads without one have the host's.
        let _entered = self.runtime.enter();
        let passed = SystemClock::micros(self.started.elapsed());
        Now {
            wall: UnixMicros(self.started_wall.0 + passed),
            mono: Instant(passed),
        }
    }
}

/// A clock that moves only when told to. For tests.
///
/// Several servers may go by the same one. Each notices a move by itself, in a task; for everything
/// that became due to happen before the next line of the test, tell the server: `Server::advance`.
#[derive(Debug, Default)]
pub struct ManualClock {
    wall: AtomicU64,
    mono: AtomicU64,
    moved: Arc<Notify>,
}

impl ManualClock {
    /// A clock whose wall shows `start`.
    pub fn starting_at(start: UnixMillis) -> Self {
        let clock = Self::default();
        clock.set_wall(start);
        clock
    }

    /// Lets time pass.
    pub fn advance(&self, by: Millis) {
        let micros = by.0.saturating_mul(1_000);
        self.wall.fetch_add(micros, Ordering::SeqCst);
        self.mono.fetch_add(micros, Ordering::SeqCst);
        self.moved.notify_waiters();
    }

    /// Lets time pass until the monotonic clock shows `to`; does nothing if it is past that.
    pub fn advance_to(&self, to: Instant) {
        let micros = to.0.saturating_sub(self.mono.load(Ordering::SeqCst));
        self.wall.fetch_add(micros, Ordering::SeqCst);
        self.mono.fetch_add(micros, Ordering::SeqCst);
        self.moved.notify_waiters();
    }

    /// Sets the wall clock, as an operator or NTP would: backwards too, and the monotonic clock
    /// does not follow.
    pub fn set_wall(&self, to: UnixMillis) {
        self.wall
            .store(to.0.saturating_mul(1_000), Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Now {
        Now {
            wall: UnixMicros(self.wall.load(Ordering::SeqCst)),
            mono: Instant(self.mono.load(Ordering::SeqCst)),
        }
    }

    fn moved(&self) -> Option<Arc<Notify>> {
        Some(Arc::clone(&self.moved))
    }

    fn real_time_until(&self, _: Instant) -> Option<Duration> {
        None
    }
}
