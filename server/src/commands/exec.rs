//! `EXEC`
//!
//! Executes the queued commands, with nobody else's between them, and replies with an array of their
//! replies.
//!
//! Behaviour worth knowing:
//! - If a command was refused when it was queued, none is executed.
//! - If a watched key changed or expired, none is executed, and the reply is null.
//! - An error while one of them runs stands in the array; the others run all the same.
//! - Commands that would wait answer as if their time were up.
//! - Once a command has ended the caller's connection (CLIENT KILL), the others run, but are not answered but for what
//!   the reference puts into replies afterwards, as it does: lengths of arrays that it did not know.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Instant;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::dispatch;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "exec",
    arity: 1,
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::SKIP_COMMANDLOG)
        .and(Flags::UNQUEUED)
        .and(Flags::RUNS_QUEUE),
    acl: Acl::TRANSACTION,
    group: Group::Transactions,
    summary: "Executes the commands that a transaction has queued.",
    since: "1.2.0",
    complexity: "Depends on the queued commands.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let client = call.client();
    let transaction = client
        .transaction
        .take()
        .ok_or(ClientError::ExecWithoutMulti)?;
    let broken = call.state.is_watch_broken(call.id);
    call.state.unwatch(call.id);
    if transaction.aborted {
        return Err(ClientError::ExecAborted.into());
    }
    if broken {
        reply.null_array();
        return Ok(Flow::Done);
    }

    reply.array(transaction.queue.len());
    call.state.in_exec = true;
    call.client().executing = Some(transaction.queue.len());
    let mut since = call.now.mono;
    for (spec, request) in &transaction.queue {
        let request = request.as_request();
        let is_ended = call.client().closing;
        let mark = reply.mark();
        if is_ended {
            reply.keep_late();
        }
        dispatch::run(call.state, call.id, spec, request, call.now, reply);
        if is_ended {
            reply.rewind_to_late(mark);
        }
        if call.state.wants_reading_after(spec) {
            let micros = measure(call.state, &mut since, Some(spec));
            let (id, now) = (call.id, call.now);
            call.state.log_if_slow(id, spec, request, now, micros);
        }
    }
    // What is read next is for EXEC itself, which took as long as all of them.
    measure(call.state, &mut since, None);
    call.state.in_exec = false;
    call.client().executing = None;
    Ok(Flow::Done)
}

/// Reads the clock for what ran since `since`, which moves on, and gives how long `last` took.
fn measure(state: &mut State, since: &mut Instant, last: Option<&'static Spec>) -> u64 {
    let from = std::mem::replace(since, state.clock.mono());
    state
        .timing
        .on_reading(from, *since, last, &mut state.stats)
}
