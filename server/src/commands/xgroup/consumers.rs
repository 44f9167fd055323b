//! `XGROUP CREATECONSUMER|DELCONSUMER key group consumer`
//!
//! Make a consumer, and reply with 1 if it is new; or remove one, and reply with how many pending
//! entries went with it.
//!
//! Behaviour worth knowing:
//! - A consumer that waits goes on waiting when it is removed. It is made again once it is tried.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const CREATE: Spec = Spec {
    name: "xgroup|createconsumer",
    arity: 5,
    syntax: "key group consumer",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RW", "insert"])],
    group: Group::Stream,
    summary: "Makes a consumer of a group.",
    since: "6.2.0",
    ..Spec::of(run_create)
};

pub(super) const DELETE: Spec = Spec {
    name: "xgroup|delconsumer",
    arity: 5,
    syntax: "key group consumer",
    flags: Flags::WRITE,
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RW", "delete"])],
    group: Group::Stream,
    summary: "Removes a consumer of a group and all that it has pending.",
    since: "5.0.0",
    ..Spec::of(run_delete)
};

fn run_create(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, group, consumer) = (args.bytes()?, args.bytes()?, args.bytes()?);

    let db = call.db;
    let created = call
        .store()
        .create_consumer(db, key, group, consumer)
        .map_err(|error| super::refused(error, key, group))?;

    reply.integer(created.into());
    Ok(Flow::Done)
}

fn run_delete(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, group, consumer) = (args.bytes()?, args.bytes()?, args.bytes()?);

    let db = call.db;
    let pending = call
        .store()
        .delete_consumer(db, key, group, consumer)
        .map_err(|error| super::refused(error, key, group))?;
    call.state.waits.on_consumer_deleted(db, key, group);

    reply.unsigned(pending.unwrap_or(0));
    Ok(Flow::Done)
}
