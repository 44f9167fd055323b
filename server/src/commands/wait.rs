//! `WAIT replicas timeout`
//!
//! Replies with the number of replicas that have everything that the client wrote: none, since there
//! are no replicas.
//!
//! Behaviour worth knowing:
//! - It waits for its timeout all the same, unless no replica is asked for; 0 waits for ever.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Instant;

use super::timeout_args::Timeout;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::call::Waiting;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "wait",
    arity: 3,
    syntax: "numreplicas:integer timeout:integer",
    flags: Flags::BLOCKING,
    acl: Acl::CONNECTION,
    tips: &["request_policy:all_shards", "response_policy:agg_min"],
    group: Group::Generic,
    summary: "Waits until replicas have what the client wrote.",
    since: "3.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let replicas = args.integer()?;
    let timeout = Timeout::parse(args.bytes()?, call)?;

    if replicas > 0 && !call.in_exec() {
        return Ok(Flow::Wait(Box::new(InVain(timeout))));
    }
    reply.integer(0);
    Ok(Flow::Done)
}

/// Waits for its time only.
struct InVain(Timeout);

impl Waiting for InVain {
    fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }

    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        reply.integer(0);
    }

    fn counts_when_over(&self) -> bool {
        true
    }
}
