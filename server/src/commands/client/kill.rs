//! `CLIENT KILL address`, `CLIENT KILL filter value [filter value ...]`
//!
//! Closes connections. Replies `OK` for an address, and the number of connections closed otherwise.
//!
//! Behaviour worth knowing:
//! - The form with an address may close the caller's own connection; the other form does not, unless
//!   `SKIPME no` says so. The caller gets its reply first.
//! - The filters are those of `CLIENT LIST`; all of them must fit.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::select::Selection;
use super::select::SkipMe;
use crate::args::Args;
use crate::args::text;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ClientId;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|kill",
    arity: -3,
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Closes connections.",
    since: "2.4.0",
    complexity: "O(N), N being the number of connections.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let is_address = args.len() == 1;
    let selection = if is_address {
        Selection::of_address(text(args.bytes()?))
    } else {
        Selection::parse(call, args, SkipMe::Yes)?
    };

    let clients = call.state.clients.iter();
    let chosen: Vec<ClientId> = clients
        .filter(|client| selection.fits(client, call.id, call.now.mono))
        .map(|client| client.id)
        .collect();
    if is_address && chosen.is_empty() {
        return Err(ClientError::NoSuchClient.into());
    }
    for &id in &chosen {
        if id == call.id {
            call.client().closing = true;
        } else {
            call.state.kill(id);
        }
    }

    if is_address {
        reply.ok();
    } else {
        reply.unsigned(chosen.len() as u64);
    }
    Ok(Flow::Done)
}
