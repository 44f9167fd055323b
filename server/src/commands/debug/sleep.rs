//! `DEBUG SLEEP seconds`
//!
//! Nobody's commands are executed until the time is over; then this one is answered first.
//!
//! Behaviour worth knowing:
//! - What is not a number is no time at all.
//! - Commands that wait already are answered when their own time is up, as if nobody slept.
//! - Within `EXEC` the reply does not wait for the end; whatever follows it does.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_f64;
use tailrace_storage::Instant;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::call::Waiting;
use crate::error::CommandError;

pub(super) fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let micros = micros(args.bytes()?);
    if micros == 0 {
        reply.ok();
        return Ok(Flow::Done);
    }
    let until = Instant(call.now.mono.0.saturating_add(micros));
    call.state.gate.sleep(until);
    if call.in_exec() {
        // The others sleep after the transaction, so no reading of the clock would tell of this.
        let (id, spec, now) = (call.id, call.spec, call.now);
        call.state
            .log_if_slow(id, spec, args.request(), now, micros);
        reply.ok();
        return Ok(Flow::Done);
    }
    Ok(Flow::Wait(Box::new(Sleeping { until, micros })))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time out of range is the nearest one in it"
)]
fn micros(text: &[u8]) -> u64 {
    let seconds = parse_f64(text).unwrap_or(0.0);
    (seconds * 1e6).max(0.0) as u64
}

struct Sleeping {
    until: Instant,
    micros: u64,
}

impl Waiting for Sleeping {
    fn deadline(&self) -> Option<Instant> {
        Some(self.until)
    }

    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        reply.ok();
    }

    fn took_micros(&self) -> u64 {
        self.micros
    }
}
