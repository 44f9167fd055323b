//! `XREAD [COUNT n] [BLOCK ms] STREAMS key [key ...] id [id ...]`
//!
//! Replies with the entries above an ID, of each stream that has some.
//!
//! Behaviour worth knowing:
//! - `$` is the last ID that the stream gave out; `+` asks for its newest entry.
//! - Streams without anything new are left out; if that is all of them, the reply is null.
//! - `COUNT` is per stream, and 0 or less means no limit.
//! - `BLOCK 0` waits for ever. `$` is resolved once, at the call.
//! - A key that comes to hold something else does not end the wait; but when another key brings an
//!   entry, all keys are looked at again, and it is an error then.

use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Compat;
use tailrace_storage::Instant;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Wants;

use super::encode;
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
    name: "xread",
    arity: -4,
    syntax: "[COUNT count:integer] [BLOCK milliseconds:integer] STREAMS streams(key... id...)",
    flags: Flags::READONLY
        .and(Flags::BLOCKING)
        .and(Flags::MOVABLEKEYS)
        .and(Flags::BY_SIZE),
    acl: Acl::STREAM,
    keys: &[KeySpec {
        notes: None,
        flags: &["RO", "access"],
        begin: Begin::Keyword("STREAMS", 1),
        find: Find::Range {
            last: -1,
            step: 1,
            limit: 2,
        },
    }],
    find_keys: Some(read_args::find_keys),
    group: Group::Stream,
    summary: "Returns the entries of streams that are newer than given IDs, or waits for some.",
    since: "5.0.0",
    complexity: "",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let read = ReadArgs::parse(call, args, Reader::Client)?;
    if read.group.is_some() {
        return Err(StreamError::GroupInXread.into());
    }
    let mut from = Vec::with_capacity(read.keys.len());
    for (key, id) in read.keys.iter().zip(read.ids.iter()) {
        from.push(From::resolve(call, key, id)?);
    }

    if serve(call, read.keys, &from, read.count_max, reply)? {
        return Ok(Flow::Done);
    }
    match read.timeout {
        Some(timeout) if !call.in_exec() => Ok(Flow::Wait(Box::new(WaitingRead {
            keys: read.keys.to_owned(),
            from,
            count_max: read.count_max,
            timeout,
        }))),
        Some(_) | None => {
            reply.null_array();
            Ok(Flow::Done)
        }
    }
}

/// Where to read from.
#[derive(Clone, Copy)]
enum From {
    /// Behind this ID.
    After(StreamId),
    /// The newest entry, whichever that is when there is one.
    Newest,
}

impl From {
    /// Checks the type of `key` and reads its `id`.
    fn resolve(call: &mut Call<'_>, key: &[u8], id: &[u8]) -> Result<Self, CommandError> {
        let db = call.db;
        let stream = call.store().stream(db, key)?;
        match id {
            b"$" => Ok(Self::After(stream.map_or(StreamId::MIN, Stream::last_id))),
            b"+" => Ok(Self::Newest),
            b">" => Err(StreamError::NewInXread.into()),
            id => StreamId::parse(id, 0)
                .map(Self::After)
                .map_err(|_| CommandError::InvalidId),
        }
    }

    /// The lowest ID that it asks for, if the stream has anything from there on.
    fn first_id(self, stream: &Stream, compat: Compat) -> Option<StreamId> {
        let last = stream.log().last_id()?;
        let first = match (self, compat) {
            (Self::After(id), _) => id.next()?,
            (Self::Newest, Compat::Valkey) => stream.last_id(),
            (Self::Newest, Compat::Redis) => last,
        };
        (first <= last).then_some(first)
    }
}

/// Replies with what the streams have. `false` means nothing, and that nothing was written.
fn serve(
    call: &mut Call<'_>,
    keys: Request<'_>,
    from: &[From],
    count_max: u64,
    reply: &mut ReplyWriter<'_>,
) -> Result<bool, CommandError> {
    let db = call.db;
    let compat = call.store().settings().compat;
    let mark = reply.mark();
    let mut served = 0;
    for (key, from) in keys.iter().zip(from) {
        let Some(stream) = call.store().stream(db, key)? else {
            continue;
        };
        let Some(first) = from.first_id(stream, compat) else {
            continue;
        };
        if keys.len() == 1 {
            reply.late_pairs(1);
        }
        served += 1;
        reply.pair();
        reply.bulk(key);
        encode::range(reply, stream, first, StreamId::MAX, count_max);
    }
    if keys.len() > 1 && served > 0 {
        reply.insert_pairs(mark, served);
    }
    Ok(served > 0)
}

struct WaitingRead {
    keys: OwnedRequest,
    from: Vec<From>,
    count_max: u64,
    timeout: Timeout,
}

impl Waiting for WaitingRead {
    fn wants(&self, db: usize) -> Wants {
        Wants {
            db,
            keys: self.keys.as_request().iter().map(Box::from).collect(),
            reader: None,
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
        // The types come first, as when it was called, so that each key is looked up twice.
        let db = call.db;
        for key in keys.iter() {
            call.store().stream(db, key)?;
        }
        serve(call, keys, &self.from, self.count_max, reply)
    }

    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        reply.null_array();
    }
}
