//! `XLEN key`
//!
//! Replies with the number of entries; a missing key has none.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Stream;

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
    name: "xlen",
    arity: 2,
    syntax: "key",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RO"])],
    group: Group::Stream,
    summary: "Counts the entries of a stream.",
    since: "5.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;

    let db = call.db;
    let stream = call
        .store()
        .stream(db, key)
        .map_err(|_| CommandError::WrongType)?;
    let len = stream.map_or(0, Stream::len);

    reply.unsigned(len);
    Ok(Flow::Done)
}
