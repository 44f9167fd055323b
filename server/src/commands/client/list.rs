//! `CLIENT INFO`, `CLIENT LIST [filter value ...]`
//!
//! Replies with a line of fields about the caller's connection, or one about each connection that fits
//! all filters, in the order in which they were made.
//!
//! Behaviour worth knowing:
//! - Filters: ID, TYPE, ADDR, LADDR, IP, USER, NAME, LIB-NAME, LIB-VER, DB, FLAGS, CAPA, each also as
//!   NOT-..., and MAXAGE, IDLE, SKIPME. One that is given twice counts the last time; IDs add up.

use std::fmt::Display;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;
use tailrace_storage::Now;

use super::FLAGS;
use super::select::Selection;
use super::select::SkipMe;
use super::select::flags;
use crate::args::Args;
use crate::args::text;
use crate::call::Call;
use crate::call::Flow;
use crate::client::Client;
use crate::client::USER;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;
use crate::upkeep::FREE_OUTPUT_BYTES;
use crate::upkeep::counted_output;

pub(super) const INFO: Spec = Spec {
    name: "client|info",
    arity: 2,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    tips: &["nondeterministic_output"],
    group: Group::Connection,
    summary: "Tells of the caller's connection.",
    since: "6.2.0",
    ..Spec::of(run_info)
};

pub(super) const SPEC: Spec = Spec {
    name: "client|list",
    arity: -2,
    syntax: "[TYPE client-type@5.0.0(NORMAL|MASTER|REPLICA|PUBSUB)] \
             [ID client-id:integer@6.2.0...] [USER username@8.1.0] [ADDR addr<ip:port>@8.1.0] \
             [LADDR laddr<ip:port>@8.1.0] [SKIPME skipme@8.1.0(YES|NO)] \
             [MAXAGE maxage:integer@8.1.0] [NAME name@9.0.0] [IDLE idle:integer@9.0.0] \
             [FLAGS flags@9.0.0] [LIB-NAME lib-name@9.0.0] [LIB-VER lib-ver@9.0.0] \
             [DB db:integer@9.0.0] [CAPA capa@9.0.0] [IP ip@9.0.0] \
             [NOT-TYPE not-client-type@9.0.0(NORMAL|MASTER|REPLICA|PUBSUB)] \
             [NOT-ID not-client-id:integer@9.0.0...] [NOT-USER not-username@9.0.0] \
             [NOT-ADDR not-addr<ip:port>@9.0.0] [NOT-LADDR not-laddr<ip:port>@9.0.0] \
             [NOT-NAME not-name@9.0.0] [NOT-FLAGS not-flags@9.0.0] \
             [NOT-LIB-NAME not-lib-name@9.0.0] [NOT-LIB-VER not-lib-ver@9.0.0] \
             [NOT-DB not-db:integer@9.0.0] [NOT-CAPA not-capa@9.0.0] [NOT-IP not-ip@9.0.0]",
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    tips: &["nondeterministic_output"],
    group: Group::Connection,
    summary: "Tells of all connections.",
    since: "2.4.0",
    history: &[
        ("2.8.12", "Shows `id`."),
        ("5.0.0", "`TYPE` is a filter."),
        ("6.0.0", "Shows `user`."),
        (
            "6.2.0",
            "Shows `argv-mem`, `tot-mem`, `laddr` and `redir`; `ID` is a filter.",
        ),
        ("7.0.0", "Shows `resp`, `multi-mem`, `rbs` and `rbp`."),
        ("7.0.3", "Shows `ssub`."),
        ("8.0.0", "`TYPE` says `primary`, and still knows `master`."),
        (
            "8.1.0",
            "Filters by user, address and age, and may leave out who asks.",
        ),
        (
            "9.0.0",
            "Filters by name, idle time, flags, library, database, capability and IP, and by what clients are not.",
        ),
    ],
    complexity: "O(N), N being the number of connections.",
    ..Spec::of(run)
};

fn run_info(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let input_bytes = show_request(call, args);
    let mut line = Vec::new();
    let (compat, now) = (call.store().settings().compat, call.now);
    append_line(&mut line, call.client(), compat, now);
    hide_request(call, input_bytes);
    reply.verbatim(&line);
    Ok(Flow::Done)
}

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.len() == 1 {
        return Err(CommandError::Syntax);
    }
    let selection = Selection::parse(call, args, SkipMe::No)?;

    let input_bytes = show_request(call, args);
    let (compat, now) = (call.store().settings().compat, call.now);
    let mut lines = Vec::new();
    for client in call.state.clients_beside(call.id) {
        if selection.fits(client, call.id, now) {
            append_line(&mut lines, client, compat, now);
        }
    }
    hide_request(call, input_bytes);

    reply.verbatim(&lines);
    Ok(Flow::Done)
}

/// Counts the caller's own request as what it sent: its arguments, and in Redis its input, too, which is still
/// in the buffer there. Gives what its input was before.
fn show_request(call: &mut Call<'_>, args: Args<'_>) -> usize {
    let is_redis = call.store().settings().compat == Compat::Redis;
    let request_bytes = call.state.request_bytes;
    let client = call.client();
    client.argument_bytes = args.request().byte_len();
    let input_bytes = client.input_bytes;
    if is_redis {
        client.input_bytes += request_bytes;
    }
    input_bytes
}

fn hide_request(call: &mut Call<'_>, input_bytes: usize) {
    let client = call.client();
    client.argument_bytes = 0;
    client.input_bytes = input_bytes;
}

/// Appends the line about one client.
fn append_line(out: &mut Vec<u8>, client: &Client, compat: Compat, now: Now) {
    let (unsent_bytes, room_bytes) = (client.unsent_bytes(), client.out.capacity());
    let counted_bytes = counted_output(unsent_bytes);
    let queued = client.transaction.as_ref().map(|queued| queued.len());
    let not_queued = if client.has_transacted { 0 } else { -1 };
    let queued_count = client
        .executing
        .or(queued)
        .map_or(not_queued, usize::cast_signed);
    let capa = if client.capa_redirect { "r" } else { "" };
    let name = client.last_command.map_or("NULL", |spec| spec.name);

    let mut line = Line(out);
    line.field("id", client.id.number);
    line.field("addr", &client.addr);
    line.field("laddr", &client.laddr);
    line.field("fd", client.fd);
    line.text("name", &client.name);
    line.field("age", now.seconds_begun_since(client.connected_at));
    line.field("idle", now.seconds_begun_since(client.active_at));
    line.field("flags", flags(client));
    if compat == Compat::Valkey {
        line.field("capa", capa);
    }
    line.field("db", client.db);
    line.field("sub", client.subscriptions.channels.len());
    line.field("psub", client.subscriptions.patterns.len());
    line.field("ssub", client.subscriptions.shards.len());
    line.field("multi", queued_count);
    line.field("watch", client.watches.keys.len());
    line.field("qbuf", client.input_bytes);
    line.field("qbuf-free", 0);
    line.field("argv-mem", client.argument_bytes);
    line.field("multi-mem", client.queued_bytes());
    line.field("rbs", room_bytes);
    line.field("rbp", room_bytes);
    line.field("obl", unsent_bytes.min(FREE_OUTPUT_BYTES));
    line.field("oll", counted_bytes.div_ceil(FREE_OUTPUT_BYTES));
    line.field("omem", counted_bytes);
    line.field("tot-mem", client.memory_bytes());
    line.field("events", if unsent_bytes > 0 { "rw" } else { "r" });
    line.field("cmd", name);
    line.field("user", USER);
    line.field("redir", redirect(client));
    line.field("resp", client.version.number());
    line.text("lib-name", &client.lib_name);
    line.text("lib-ver", &client.lib_version);
    if compat == Compat::Redis {
        line.field("io-thread", 0);
    }
    line.field("tot-net-in", client.bytes_in);
    line.field("tot-net-out", client.bytes_out);
    line.field("tot-cmds", client.commands);
    line.end();
}

/// The number of the client that hears of changes in place of this one: 0 if it hears itself, -1 if
/// nobody does.
pub(super) fn redirect(client: &Client) -> i64 {
    match &client.tracking {
        Some(tracking) if tracking.is_on => tracking.redirect.map_or(0, u64::cast_signed),
        _ => -1,
    }
}

/// Fields, each `name=value`.
struct Line<'a>(&'a mut Vec<u8>);

impl Line<'_> {
    fn field(&mut self, name: &str, value: impl Display) {
        self.text(name, value.to_string().as_bytes());
    }

    fn text(&mut self, name: &str, value: &[u8]) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(b'=');
        self.0.extend_from_slice(text(value));
        self.0.push(b' ');
    }

    /// Ends the line, in place of the blank behind the last field.
    fn end(self) {
        self.0.pop();
        self.0.push(b'\n');
    }
}
