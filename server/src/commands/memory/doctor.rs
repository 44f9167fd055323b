//! `MEMORY DOCTOR`
//!
//! Replies with what is wrong with the use of memory, for people.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "memory|doctor",
    arity: 2,
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    group: Group::Server,
    summary: "Says what is wrong with the use of memory.",
    since: "4.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let used = call.store().bytes() as u64;
    let max = call.state.config.settings().maxmemory_bytes;
    let report = if max > 0 && used > max {
        format!(
            "Keys and values take {used} bytes, more than the {max} bytes of maxmemory: commands that \
             need memory are refused. Delete or trim something, or raise maxmemory.\n"
        )
    } else if max > 0 && used > max / 10 * 9 {
        format!(
            "Keys and values take {used} of the {max} bytes of maxmemory. Soon commands that need \
             memory will be refused.\n"
        )
    } else {
        format!("Keys and values take {used} bytes. Nothing is wrong with that.\n")
    };

    reply.verbatim(report.as_bytes());
    Ok(Flow::Done)
}
