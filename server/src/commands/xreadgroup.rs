//! `XREADGROUP GROUP group consumer [COUNT n] [BLOCK ms] [NOACK] STREAMS key [key ...] id [id ...]`
//!
//! Delivers entries that no consumer of the group has seen (`>`), or reads the consumer's own
//! pending entries above an ID again.
//!
//! Behaviour worth knowing:
//! - All keys and groups are checked before anything is delivered.
//! - The consumer is created even if there is nothing for it.
//! - Reading again counts as a delivery of the entries that still exist; the others read as null.
//! - Waits only if all that is asked for is new entries, and there are none. Consumers that wait
//!   are served in the order in which they came, one for each entry.

use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::GroupError;
use tailrace_storage::GroupReader;
use tailrace_storage::Instant;
use tailrace_storage::StreamId;
use tailrace_storage::Tracking;
use tailrace_storage::Wants;

use super::encode;
use super::encode_entry;
use super::encode_entry::EntryWriter;
use super::read_args;
use super::read_args::ReadArgs;
use super::read_args::Reader;
use super::timeout_args::Timeout;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::call::Waiting;
use crate::error::CommandError;
use crate::error::StreamError;
use crate::spec::Acl;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xreadgroup",
    arity: -7,
    syntax: "GROUP group-block(group consumer) [COUNT count:integer] \
             [BLOCK milliseconds:integer] [NOACK] STREAMS streams(key... id...)",
    flags: Flags::WRITE
        .and(Flags::BLOCKING)
        .and(Flags::MOVABLEKEYS)
        .and(Flags::BY_SIZE)
        .and(Flags::SERVES_CONSUMER),
    acl: Acl::STREAM,
    keys: &[KeySpec {
        notes: None,
        flags: &["RO", "access"],
        begin: Begin::Keyword("STREAMS", 4),
        find: Find::Range {
            last: -1,
            step: 1,
            limit: 2,
        },
    }],
    find_keys: Some(read_args::find_keys),
    group: Group::Stream,
    summary: "Delivers new entries to a consumer of a group, or its pending ones again.",
    since: "5.0.0",
    complexity: "O(M) for each stream, M being the number of entries returned.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let read = ReadArgs::parse(call, args, Reader::Group)?;
    let (group, consumer) = read.group.ok_or(StreamError::GroupMissing)?;
    let mut what = Vec::with_capacity(read.keys.len());
    for (key, id) in read.keys.iter().zip(read.ids.iter()) {
        check(call, key, group)?;
        what.push(What::parse(id)?);
    }

    let reading = Reading {
        keys: read.keys,
        what: &what,
        group,
        consumer,
        count_max: read.count_max,
        tracking: match read.no_ack {
            true => Tracking::NoAck,
            false => Tracking::Pending,
        },
    };
    if reading.serve(call, reply)? {
        return Ok(Flow::Done);
    }
    match read.timeout {
        Some(timeout) if !call.in_exec() => Ok(Flow::Wait(Box::new(WaitingRead {
            keys: read.keys.to_owned(),
            group: group.into(),
            consumer: consumer.into(),
            count_max: reading.count_max,
            tracking: reading.tracking,
            timeout,
            what,
        }))),
        Some(_) | None => {
            reply.null_array();
            Ok(Flow::Done)
        }
    }
}

/// What is asked of one stream.
#[derive(Clone, Copy)]
enum What {
    /// Entries that the group has not seen.
    New,
    /// The consumer's pending entries above this ID.
    History(StreamId),
}

impl What {
    fn parse(id: &[u8]) -> Result<Self, CommandError> {
        match id {
            b">" => Ok(Self::New),
            b"$" => Err(StreamError::Meaningless('$').into()),
            b"+" => Err(StreamError::Meaningless('+').into()),
            id => StreamId::parse(id, 0)
                // The greatest ID is what the reference keeps for `>`.
                .map(|id| match id {
                    StreamId::MAX => Self::New,
                    id => Self::History(id),
                })
                .map_err(|_| CommandError::InvalidId),
        }
    }
}

/// Checks that `key` is a stream with this group.
fn check(call: &mut Call<'_>, key: &[u8], group: &[u8]) -> Result<(), CommandError> {
    let db = call.db;
    let stream = call.store().stream(db, key)?;
    if stream.is_none_or(|stream| stream.group(group).is_none()) {
        return Err(no_group(key, group));
    }
    Ok(())
}

fn no_group(key: &[u8], group: &[u8]) -> CommandError {
    StreamError::NoGroupToRead {
        key: key.to_vec(),
        group: group.to_vec(),
    }
    .into()
}

/// One reading of all streams, now or when an entry came.
struct Reading<'a> {
    keys: Request<'a>,
    what: &'a [What],
    group: &'a [u8],
    consumer: &'a [u8],
    count_max: u64,
    tracking: Tracking,
}

impl Reading<'_> {
    /// Delivers what there is. `false` means nothing, and that nothing was written.
    fn serve(
        &self,
        call: &mut Call<'_>,
        reply: &mut ReplyWriter<'_>,
    ) -> Result<bool, CommandError> {
        let mark = reply.mark();
        let single = self.keys.len() == 1;
        let mut served = 0;
        for (key, what) in self.keys.iter().zip(self.what) {
            let written = match *what {
                What::New => self.deliver(call, key, single, reply),
                What::History(after) => self.reread(call, key, after, single, reply),
            };
            let written = written.map_err(|error| match error {
                GroupError::WrongType => CommandError::WrongType,
                GroupError::NoSuchKey | GroupError::NoGroup => no_group(key, self.group),
            })?;
            served += usize::from(written);
        }
        if !single && served > 0 {
            reply.insert_pairs(mark, served);
        }
        Ok(served > 0)
    }

    fn deliver(
        &self,
        call: &mut Call<'_>,
        key: &[u8],
        single: bool,
        reply: &mut ReplyWriter<'_>,
    ) -> Result<bool, GroupError> {
        let db = call.db;
        let (read, stream) = call.store().read_new(
            db,
            key,
            self.group,
            self.consumer,
            self.count_max,
            self.tracking,
        )?;
        let Some(delivered) = read.delivered else {
            return Ok(false);
        };
        open(key, single, reply);
        let count = encode::array_len(delivered.count);
        reply.late_array(count);
        encode_entry::put_all(reply, stream.delivered(&read), count);
        Ok(true)
    }

    fn reread(
        &self,
        call: &mut Call<'_>,
        key: &[u8],
        after: StreamId,
        single: bool,
        reply: &mut ReplyWriter<'_>,
    ) -> Result<bool, GroupError> {
        let db = call.db;
        let (history, stream) =
            call.store()
                .read_history(db, key, self.group, self.consumer, after, self.count_max)?;
        open(key, single, reply);
        reply.late_array(history.entries.len());
        let mut lookup = stream.log().lookup();
        let mut writer = EntryWriter::new(reply, history.entries.len());
        for pending in &history.entries {
            match lookup.get(pending.id) {
                Some(entry) => writer.put(&entry),
                None => writer.put_gone(pending.id),
            }
        }
        Ok(true)
    }
}

/// Opens what is said of one stream; if it is the only one, the whole reply.
fn open(key: &[u8], single: bool, reply: &mut ReplyWriter<'_>) {
    if single {
        reply.late_pairs(1);
    }
    reply.pair();
    reply.bulk(key);
}

struct WaitingRead {
    keys: OwnedRequest,
    what: Vec<What>,
    group: Box<[u8]>,
    consumer: Box<[u8]>,
    count_max: u64,
    tracking: Tracking,
    timeout: Timeout,
}

impl Waiting for WaitingRead {
    fn wants(&self, db: usize) -> Wants {
        Wants {
            db,
            keys: self.keys.as_request().iter().map(Box::from).collect(),
            reader: Some(GroupReader {
                group: self.group.clone(),
                consumer: self.consumer.clone(),
            }),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.timeout.deadline()
    }

    fn attempt(
        &mut self,
        call: &mut Call<'_>,
        reply: &mut ReplyWriter<'_>,
    ) -> Result<bool, CommandError> {
        let keys = self.keys.as_request();
        for key in keys.iter() {
            check(call, key, &self.group)?;
        }
        let reading = Reading {
            keys,
            what: &self.what,
            group: &self.group,
            consumer: &self.consumer,
            count_max: self.count_max,
            tracking: self.tracking,
        };
        reading.serve(call, reply)
    }

    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        reply.null_array();
    }
}
