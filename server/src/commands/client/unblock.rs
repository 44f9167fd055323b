//! `CLIENT UNBLOCK id [TIMEOUT | ERROR]`
//!
//! Ends the wait of another client as if its time were up, or with an error. Replies with 1, or with 0 if
//! that client does not wait for a key or a time.
//!
//! Behaviour worth knowing:
//! - A command that `CLIENT PAUSE` holds is not let go.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::serve;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|unblock",
    arity: -3,
    syntax: "client-id:integer [unblock-type(TIMEOUT|ERROR)]",
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Ends the wait of another client.",
    since: "5.0.0",
    complexity: "O(log N), N being the number of connections.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let id = args.bytes()?;
    // With more than a reason, the reference looks at none of it.
    let with_error = if args.len() != 1 || args.keyword("timeout") {
        false
    } else if args.keyword("error") {
        true
    } else {
        return Err(ClientError::UnblockReason.into());
    };
    let number = parse_i64(id).ok_or(CommandError::NotAnInteger)?;

    let target = u64::try_from(number).ok();
    let target = target.and_then(|number| call.state.client_beside(call.id, number));
    let waiter = target.and_then(|client| client.waiter);
    if let Some(waiter) = waiter {
        if with_error {
            serve::unblock_with_error(call.state, waiter, call.now);
        } else {
            serve::give_up(call.state, waiter, call.now);
        }
    }

    reply.integer(i64::from(waiter.is_some()));
    Ok(Flow::Done)
}
