//! `XDEL key id [id ...]`
//!
//! Deletes entries and replies with how many there were.
//!
//! Behaviour worth knowing:
//! - One bad ID and nothing is deleted; but a missing key is 0 before any ID is looked at.
//! - A stream stays when its last entry goes, and so does what groups have pending of it.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Value;

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
    name: "xdel",
    arity: -3,
    syntax: "key id...",
    flags: Flags::WRITE.and(Flags::FAST),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "delete"])],
    group: Group::Stream,
    summary: "Deletes entries of a stream and returns how many there were.",
    since: "5.0.0",
    complexity: "O(1) for each entry.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let key = args.bytes()?;
    let stream = call.store().lookup(db, key).map(Value::as_stream);
    if stream.transpose()?.is_none() {
        reply.integer(0);
        return Ok(Flow::Done);
    }
    let ids = args.ids()?;

    let deleted = call.store().delete(db, key, &ids)?;

    reply.unsigned(deleted);
    Ok(Flow::Done)
}
