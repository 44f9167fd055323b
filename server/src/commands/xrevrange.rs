//! `XREVRANGE key end start [COUNT count]`
//!
//! Replies with the entries whose IDs lie in an interval, highest first. Mind the order of the
//! bounds; all else is as `XRANGE` has it.

use tailrace_protocol::ReplyWriter;

use super::encode;
use super::interval_args;
use super::xrange;
use super::xrange::Interval;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xrevrange",
    history: &[("6.2.0", "Takes intervals that exclude their ends.")],
    syntax: "key end start [COUNT count:integer]",
    summary: "Returns the entries of a stream in an interval of IDs, highest ID first.",
    run,
    ..xrange::SPEC
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let end = args.bytes()?;
    let (from, to) = interval_args::bounds(args.bytes()?, end)?;
    let count_max = xrange::count(args)?;
    Interval {
        key,
        from,
        to,
        count_max,
    }
    .reply(call, reply, encode::range_reversed)
}
