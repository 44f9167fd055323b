//! The one place of the runner that reads a clock.

use std::time::Instant;

/// Reads the monotonic clock.
#[expect(
    clippy::disallowed_methods,
    reason = "measuring a server from outside is about real time"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
