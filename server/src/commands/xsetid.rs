//! `XSETID key last-id [ENTRIESADDED count] [MAXDELETEDID id]`
//!
//! Sets the last ID that a stream gave out, and its counters.
//!
//! Behaviour worth knowing:
//! - The last ID may go back, but not below an entry or the highest deleted ID.
//! - `MAXDELETEDID 0-0` leaves the highest deleted ID as it is.
//! - Nobody who waits for the stream is served by it.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::MaxDeletedAboveId;
use tailrace_storage::SetId;
use tailrace_storage::SetIdError;
use tailrace_storage::SetStreamIdError;

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
    name: "xsetid",
    arity: -3,
    syntax: "key last-id [ENTRIESADDED entries-added:integer@7.0.0] \
             [MAXDELETEDID max-deleted-id@7.0.0]",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "update"])],
    group: Group::Stream,
    summary: "Sets the last ID and the counters of a stream.",
    since: "5.0.0",
    history: &[("7.0.0", "Takes `ENTRIESADDED` and `MAXDELETEDID`.")],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let mut ask = SetId::new(args.id()?);
    while !args.is_empty() {
        if args.keyword_with("entriesadded", 1) {
            let added = u64::try_from(args.integer()?);
            ask = ask.entries_added(added.map_err(|_| StreamError::EntriesAddedNegative)?);
        } else if args.keyword_with("maxdeletedid", 1) {
            ask = ask
                .max_deleted(args.id()?)
                .map_err(|MaxDeletedAboveId| StreamError::MaxDeletedAboveId)?;
        } else {
            return Err(CommandError::Syntax);
        }
    }

    let db = call.db;
    call.store().set_id(db, key, ask)?;

    reply.ok();
    Ok(Flow::Done)
}

impl From<SetStreamIdError> for CommandError {
    fn from(error: SetStreamIdError) -> Self {
        match error {
            SetStreamIdError::NoSuchKey => Self::NoSuchKey,
            SetStreamIdError::WrongType => Self::WrongType,
            SetStreamIdError::SetId(SetIdError::BelowMaxDeleted) => {
                StreamError::BelowMaxDeleted.into()
            }
            SetStreamIdError::SetId(SetIdError::BelowTop) => StreamError::BelowTop.into(),
            SetStreamIdError::SetId(SetIdError::AddedBelowLen) => StreamError::AddedBelowLen.into(),
        }
    }
}
