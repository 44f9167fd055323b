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
use tailrace_protocol::Version;
use tailrace_storage::Instant;

use super::FLAGS;
use super::select::Selection;
use super::select::SkipMe;
use super::select::flags;
use crate::args::Args;
use crate::args::text;
use crate::call::Call;
use crate::call::Flow;
use crate::client::Client;
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
    flags: FLAGS.and(Flags::ADMIN),
    acl: Acl::CONNECTION,
    tips: &["nondeterministic_output"],
    group: Group::Connection,
    summary: "Tells of all connections.",
    since: "2.4.0",
    complexity: "O(N), N being the number of connections.",
    ..Spec::of(run)
};

fn run_info(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.client().argument_bytes = args.request().byte_len();
    let mut line = Vec::new();
    let now = call.now.mono;
    append_line(&mut line, call.client(), now);
    call.client().argument_bytes = 0;
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

    call.client().argument_bytes = args.request().byte_len();
    let now = call.now.mono;
    let mut lines = Vec::new();
    for client in call.state.clients.iter() {
        if selection.fits(client, call.id, now) {
            append_line(&mut lines, client, now);
        }
    }
    call.client().argument_bytes = 0;

    reply.verbatim(&lines);
    Ok(Flow::Done)
}

/// Appends the line about one client.
fn append_line(out: &mut Vec<u8>, client: &Client, now: Instant) {
    let memory = Memory::of(client);
    let seconds_since = |then: Instant| now.0.saturating_sub(then.0) / MICROS_PER_SECOND;
    let queued = client.transaction.as_ref();
    let not_queued = if client.has_transacted { 0 } else { -1 };
    let queued_count = queued.map_or(not_queued, |queued| queued.queue.len().cast_signed());
    let capa = if client.capa_redirect { "r" } else { "" };
    let has_unsent = memory.waiting_bytes > 0;
    let name = client.last_command.map_or("NULL", |spec| spec.name);

    let mut line = Line(out);
    line.field("id", client.id.number);
    line.field("addr", &client.addr);
    line.field("laddr", &client.laddr);
    line.field("fd", client.fd);
    line.text("name", &client.name);
    line.field("age", seconds_since(client.connected_at));
    line.field("idle", seconds_since(client.active_at));
    line.field("flags", flags(client));
    line.field("capa", capa);
    line.field("db", client.db);
    line.field("sub", client.subscriptions.channels.len());
    line.field("psub", client.subscriptions.patterns.len());
    line.field("ssub", client.subscriptions.shards.len());
    line.field("multi", queued_count);
    line.field("watch", client.watches.keys.len());
    line.field("qbuf", client.input_bytes);
    line.field("qbuf-free", 0);
    line.field("argv-mem", client.argument_bytes);
    line.field("multi-mem", memory.queued_bytes);
    line.field("rbs", memory.reply_bytes);
    line.field("rbp", memory.reply_bytes);
    line.field("obl", memory.waiting_bytes.min(FREE_OUTPUT_BYTES));
    line.field("oll", memory.counted_bytes.div_ceil(FREE_OUTPUT_BYTES));
    line.field("omem", memory.counted_bytes);
    line.field("tot-mem", memory.total());
    line.field("events", if has_unsent { "rw" } else { "r" });
    line.field("cmd", name);
    line.field("user", "default");
    line.field("redir", -1);
    line.field(
        "resp",
        match client.version {
            Version::Resp2 => 2,
            Version::Resp3 => 3,
        },
    );
    line.text("lib-name", &client.lib_name);
    line.text("lib-ver", &client.lib_version);
    line.field("tot-net-in", client.bytes_in);
    line.field("tot-net-out", client.bytes_out);
    line.field("tot-cmds", client.commands);
    line.end();
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

/// The memory that a client takes, in bytes.
struct Memory {
    /// Replies that were not sent.
    waiting_bytes: usize,
    /// Those of them that count against limits.
    counted_bytes: usize,
    /// Commands that `MULTI` queued.
    queued_bytes: usize,
    /// What is kept for the next replies.
    reply_bytes: usize,
    /// What was received, and the command that runs or waits.
    received_bytes: usize,
}

impl Memory {
    fn of(client: &Client) -> Self {
        let waiting_bytes = client.link.waiting() + client.out.len();
        let queued = client.transaction.as_ref();
        Self {
            waiting_bytes,
            counted_bytes: counted_output(waiting_bytes),
            queued_bytes: queued.map_or(0, |queued| queued.bytes),
            reply_bytes: client.out.capacity(),
            received_bytes: client.input_bytes + client.argument_bytes,
        }
    }

    fn total(&self) -> usize {
        size_of::<Client>()
            + self.waiting_bytes
            + self.queued_bytes
            + self.reply_bytes
            + self.received_bytes
    }
}

const MICROS_PER_SECOND: u64 = 1_000_000;
