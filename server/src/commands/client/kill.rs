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
    syntax: "filter(old-format<ip:port>!2.8.12 | new-format([ID client-id:integer@2.8.12...] | \
             [TYPE client-type@2.8.12(NORMAL|MASTER@3.2.0|PRIMARY@8.0.0|SLAVE|REPLICA@5.0.0|PUBSUB)] \
             | [USER username] | [ADDR addr<ip:port>] | [LADDR laddr<ip:port>@6.2.0] | \
             [SKIPME skipme(YES|NO)] | [MAXAGE maxage:integer@8.0.0] | [NAME name@9.0.0] | \
             [IDLE idle:integer@9.0.0] | [FLAGS flags@9.0.0] | [LIB-NAME lib-name@9.0.0] | \
             [LIB-VER lib-ver@9.0.0] | [DB db:integer@9.0.0] | [CAPA capa@9.0.0] | \
             [IP ip@9.0.0] | \
             [NOT-TYPE not-client-type@9.0.0(NORMAL|MASTER|PRIMARY|SLAVE|REPLICA|PUBSUB)] | \
             [NOT-ID not-client-id:integer@9.0.0...] | [NOT-USER not-username@9.0.0] | \
             [NOT-ADDR not-addr<ip:port>@9.0.0] | [NOT-LADDR not-laddr<ip:port>@9.0.0] | \
             [NOT-NAME not-name@9.0.0] | [NOT-FLAGS not-flags@9.0.0] | \
             [NOT-LIB-NAME not-lib-name@9.0.0] | [NOT-LIB-VER not-lib-ver@9.0.0] | \
             [NOT-DB not-db:integer@9.0.0] | [NOT-CAPA not-capa@9.0.0] | \
             [NOT-IP not-ip@9.0.0])...)",
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Closes connections.",
    since: "2.4.0",
    history: &[
        ("2.8.12", "Takes filters."),
        ("2.8.12", "`ID` is one of them."),
        ("3.2.0", "`TYPE` knows `master`."),
        ("5.0.0", "`TYPE` says `replica`, and still knows `slave`."),
        ("6.2.0", "`LADDR` is a filter."),
        ("8.0.0", "`MAXAGE` is a filter."),
        ("8.0.0", "`TYPE` says `primary`, and still knows `master`."),
        ("8.1.0", "`ID` takes several."),
        (
            "9.0.0",
            "Filters by name, idle time, flags, library, database, capability and IP, and by what clients are not.",
        ),
    ],
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

    let clients = call.state.clients_beside(call.id);
    let chosen: Vec<ClientId> = clients
        .filter(|client| selection.fits(client, call.id, call.now))
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
