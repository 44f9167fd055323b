//! `SLOWLOG LEN` and `SLOWLOG RESET`

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "slowlog|len",
    arity: 2,
    flags: FLAGS,
    tips: &[
        "request_policy:all_nodes",
        "response_policy:agg_sum",
        "nondeterministic_output",
    ],
    group: Group::Server,
    summary: "Returns how many entries the slow log has.",
    since: "2.2.12",
    ..Spec::of(len)
};

pub(super) const RESET: Spec = Spec {
    name: "slowlog|reset",
    arity: 2,
    flags: FLAGS,
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    group: Group::Server,
    summary: "Empties the slow log.",
    since: "2.2.12",
    complexity: "O(N), N being the number of entries.",
    ..Spec::of(reset)
};

fn len(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.unsigned(call.state.logs.slow.iter().len() as u64);
    Ok(Flow::Done)
}

fn reset(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.state.logs.slow.clear();
    reply.ok();
    Ok(Flow::Done)
}
