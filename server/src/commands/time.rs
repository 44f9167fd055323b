//! `TIME`
//!
//! Replies with the time of the server's clock: seconds since 1970, and microseconds.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "time",
    arity: 1,
    flags: Flags::LOADING.and(Flags::STALE).and(Flags::FAST),
    tips: &["nondeterministic_output"],
    group: Group::Server,
    summary: "Tells the time.",
    since: "2.6.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let micros = i64::try_from(call.now.wall.0).unwrap_or(i64::MAX);
    reply.array(2);
    reply.bulk_integer(micros / MICROS_PER_SECOND);
    reply.bulk_integer(micros % MICROS_PER_SECOND);
    Ok(Flow::Done)
}

const MICROS_PER_SECOND: i64 = 1_000_000;
