//! `XINFO STREAM key [FULL [COUNT count]]`
//!
//! Describes a stream; in full, with its entries, groups, consumers and what they have pending.
//!
//! Behaviour worth knowing:
//! - `COUNT` (10) is for each list on its own; 0 is no limit, and less than that is 10 again.
//! - The key is looked at before the options.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;
use tailrace_storage::ConsumerIndex;
use tailrace_storage::Entry;
use tailrace_storage::PendingEntry;
use tailrace_storage::PendingFilter;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::WaitList;

use super::super::encode;
use super::Waiting;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xinfo|stream",
    arity: -3,
    syntax: "key [full-block(FULL [COUNT count:integer])]",
    flags: Flags::READONLY,
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RO", "access"])],
    group: Group::Stream,
    summary: "Describes a stream.",
    since: "5.0.0",
    history: &[
        ("6.0.0", "Takes `FULL`."),
        (
            "7.0.0",
            "Shows `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag`.",
        ),
        (
            "7.2.0",
            "Shows `active-time`, and `seen-time` means the last attempt.",
        ),
    ],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    let spec = call.spec;
    let state = &mut *call.state;
    let compat = state.store.settings().compat;
    let stream = state.store.stream(db, key)?;
    let stream = stream.ok_or(CommandError::NoSuchKey)?;
    let detail = Detail::parse(args)?
        .ok_or_else(|| CommandError::subcommand_syntax(spec, args.request()))?;

    let pairs = match detail {
        Detail::Short => 10,
        Detail::Full { .. } => 9,
    };
    let extra = match compat {
        Compat::Valkey => 0,
        Compat::Redis => IDEMPOTENCE.len(),
    };
    reply.map(pairs + extra);
    counters(reply, stream);
    for &(name, value) in &IDEMPOTENCE[..extra] {
        reply.bulk(name);
        reply.integer(value);
    }
    match detail {
        Detail::Short => short(reply, stream),
        Detail::Full { count_max } => Full {
            stream,
            compat,
            count_max,
            waits: &state.waits,
            db,
            key,
        }
        .write(reply),
    }
    Ok(Flow::Done)
}

/// How much to tell.
enum Detail {
    Short,
    Full {
        /// Elements of each list.
        count_max: u64,
    },
}

impl Detail {
    /// `None` if the arguments are none that the command knows.
    fn parse(mut args: Args<'_>) -> Result<Option<Self>, CommandError> {
        if args.is_empty() {
            return Ok(Some(Self::Short));
        }
        if !matches!(args.len(), 1 | 3) || !args.keyword("full") {
            return Ok(None);
        }
        let count_max = match args.is_empty() {
            true => COUNT_DEFAULT,
            false if args.keyword("count") => match args.integer()? {
                0 => u64::MAX,
                count => u64::try_from(count).unwrap_or(COUNT_DEFAULT),
            },
            false => return Ok(None),
        };
        Ok(Some(Self::Full { count_max }))
    }
}

/// What both forms begin with.
fn counters(reply: &mut ReplyWriter<'_>, stream: &Stream) {
    let log = stream.log();
    reply.bulk(b"length");
    reply.unsigned(stream.len());
    reply.bulk(b"radix-tree-keys");
    reply.unsigned(log.node_count() as u64);
    reply.bulk(b"radix-tree-nodes");
    reply.unsigned(log.radix_node_count() as u64);
    reply.bulk(b"last-generated-id");
    encode::id(reply, stream.last_id());
    reply.bulk(b"max-deleted-entry-id");
    encode::id(reply, stream.max_deleted_id());
    reply.bulk(b"entries-added");
    // A counter that somebody set may run over; the reference shows it as signed then.
    reply.integer(stream.entries_added().cast_signed());
    reply.bulk(b"recorded-first-entry-id");
    encode::id(reply, stream.first_id());
}

fn short(reply: &mut ReplyWriter<'_>, stream: &Stream) {
    reply.bulk(b"groups");
    reply.unsigned(stream.groups().len() as u64);
    reply.bulk(b"first-entry");
    edge(reply, stream.log().iter().next());
    reply.bulk(b"last-entry");
    edge(reply, stream.log().iter().next_back());
}

fn edge(reply: &mut ReplyWriter<'_>, entry: Option<Entry<'_>>) {
    match entry {
        Some(entry) => encode::entry(reply, &entry),
        None => reply.null(),
    }
}

/// Everything about a stream.
struct Full<'a> {
    stream: &'a Stream,
    compat: Compat,
    count_max: u64,
    waits: &'a WaitList,
    db: usize,
    key: &'a [u8],
}

impl Full<'_> {
    fn write(&self, reply: &mut ReplyWriter<'_>) {
        reply.bulk(b"entries");
        encode::range(
            reply,
            self.stream,
            StreamId::MIN,
            StreamId::MAX,
            self.count_max,
        );
        reply.bulk(b"groups");
        reply.array(self.stream.groups().len());
        for (name, group) in self.stream.groups() {
            self.write_group(reply, name, group);
        }
    }

    fn write_group(
        &self,
        reply: &mut ReplyWriter<'_>,
        name: &[u8],
        group: &tailrace_storage::Group,
    ) {
        reply.map(7);
        reply.bulk(b"name");
        reply.bulk(name);
        reply.bulk(b"last-delivered-id");
        encode::id(reply, group.last_delivered());
        super::progress(reply, self.stream, group, self.compat);
        let pending = group.pending().len() as u64;
        reply.bulk(b"pel-count");
        reply.unsigned(pending);
        reply.bulk(b"pending");
        let all = PendingFilter::default();
        let listed = self.header(reply, pending);
        for entry in group.pending().iter(all).take(listed) {
            reply.array(4);
            encode::id(reply, entry.id);
            reply.bulk(group.consumer(entry.consumer).name());
            delivery(reply, &entry);
        }
        let waiting = Waiting::of(self.waits, self.db, self.key, name);
        reply.bulk(b"consumers");
        reply.array(group.consumer_count());
        for (index, _) in group.consumers() {
            self.write_consumer(reply, group, index, &waiting);
        }
    }

    fn write_consumer(
        &self,
        reply: &mut ReplyWriter<'_>,
        group: &tailrace_storage::Group,
        index: ConsumerIndex,
        waiting: &Waiting<'_>,
    ) {
        let consumer = group.consumer(index);
        let presence = waiting.presence(consumer.name());
        reply.map(5);
        reply.bulk(b"name");
        reply.bulk(consumer.name());
        reply.bulk(b"seen-time");
        reply.unsigned(group.seen_at(index, presence).0);
        reply.bulk(b"active-time");
        match consumer.active_at() {
            Some(at) => reply.unsigned(at.0),
            None => reply.integer(-1),
        }
        let pending = group.pending().count_of(index);
        reply.bulk(b"pel-count");
        reply.unsigned(pending);
        reply.bulk(b"pending");
        let own = PendingFilter {
            consumer: Some(index),
            ..PendingFilter::default()
        };
        let listed = self.header(reply, pending);
        for entry in group.pending().iter(own).take(listed) {
            reply.array(3);
            encode::id(reply, entry.id);
            delivery(reply, &entry);
        }
    }

    /// Opens a list of `count` elements, of which no more than asked for are shown.
    fn header(&self, reply: &mut ReplyWriter<'_>, count: u64) -> usize {
        let listed = encode::array_len(count.min(self.count_max));
        reply.late_array(listed);
        listed
    }
}

fn delivery(reply: &mut ReplyWriter<'_>, entry: &PendingEntry) {
    reply.unsigned(entry.delivered_at.0);
    // A count beyond the largest integer of the protocol comes round, as that of the reference does.
    reply.integer(entry.deliveries.cast_signed());
}

/// Elements of each list if the client does not say.
const COUNT_DEFAULT: u64 = 10;
/// What Redis says of its idempotent producers, of which this server has none.
const IDEMPOTENCE: [(&[u8], i64); 6] = [
    (b"idmp-duration", 100),
    (b"idmp-maxsize", 100),
    (b"pids-tracked", 0),
    (b"iids-tracked", 0),
    (b"iids-added", 0),
    (b"iids-duplicates", 0),
];
