//! `XGROUP CREATE key group id|$ [MKSTREAM] [ENTRIESREAD count]`
//!
//! Makes a group that reads what comes after an ID.
//!
//! Behaviour worth knowing:
//! - `$` is the last ID that the stream gave out, even if that entry was deleted.
//! - `MKSTREAM` does not help if the group exists already.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::CreateGroupError;
use tailrace_storage::GroupStart;
use tailrace_storage::MissingStream;

use super::Mkstream;
use super::Options;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::StreamError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xgroup|create",
    arity: -5,
    syntax: "key group id-selector(id|new-id:'$') [MKSTREAM] \
             [ENTRIESREAD entriesread:integer<entries-read>]",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RW", "insert"])],
    group: Group::Stream,
    summary: "Makes a group.",
    since: "5.0.0",
    history: &[("7.0.0", "Takes `ENTRIESREAD`.")],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, group, id) = (args.bytes()?, args.bytes()?, args.bytes()?);
    let options = Options::parse(args, call, Mkstream::Allowed)?;
    let missing = match options.mkstream {
        true => MissingStream::Create,
        false => MissingStream::Leave,
    };
    let db = call.db;
    let found = super::find(call.store(), db, key)?;
    if found.is_none() && missing == MissingStream::Leave {
        return Err(StreamError::KeyRequired.into());
    }
    super::check_len(call, args.request(), 8)?;
    let start = match id {
        b"$" => GroupStart::AfterLast,
        _ => GroupStart::After(Args::new(args.request(), 4).id()?),
    };

    call.store()
        .create_group(db, key, group, start, options.entries_read, missing)?;

    reply.ok();
    Ok(Flow::Done)
}

impl From<CreateGroupError> for CommandError {
    fn from(error: CreateGroupError) -> Self {
        match error {
            CreateGroupError::NoSuchKey => StreamError::KeyRequired.into(),
            CreateGroupError::WrongType => Self::WrongType,
            CreateGroupError::GroupExists => StreamError::GroupExists.into(),
        }
    }
}
