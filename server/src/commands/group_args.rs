//! What the commands on groups look up and read alike.

use tailrace_storage::Group;
use tailrace_storage::GroupError;
use tailrace_storage::Millis;
use tailrace_storage::Store;
use tailrace_storage::Stream;

use crate::args::Args;
use crate::error::CommandError;
use crate::error::StreamError;

/// Reads a stream and its group, if they are there.
pub(super) fn find<'a>(
    store: &'a mut Store,
    db: usize,
    key: &[u8],
    group: &[u8],
) -> Result<Option<(&'a Stream, &'a Group)>, CommandError> {
    let stream = store.stream(db, key)?;
    Ok(stream.and_then(|stream| Some((stream, stream.group(group)?))))
}

/// As [`find`], where it is an error if either is missing.
pub(super) fn require<'a>(
    store: &'a mut Store,
    db: usize,
    key: &[u8],
    group: &[u8],
) -> Result<(&'a Stream, &'a Group), CommandError> {
    find(store, db, key, group)?.ok_or_else(|| no_group(key, group))
}

/// The words for what storage refused.
pub(super) fn refused(error: GroupError, key: &[u8], group: &[u8]) -> CommandError {
    match error {
        GroupError::WrongType => CommandError::WrongType,
        GroupError::NoSuchKey | GroupError::NoGroup => no_group(key, group),
    }
}

/// Reads a minimal idle time; `command` is for the error. Less than zero is zero.
pub(super) fn idle_min(args: &mut Args<'_>, command: &'static str) -> Result<Millis, CommandError> {
    let ms = args.integer_or(StreamError::MinIdle { command }.into())?;
    Ok(Millis(u64::try_from(ms).unwrap_or(0)))
}

fn no_group(key: &[u8], group: &[u8]) -> CommandError {
    StreamError::NoGroup {
        key: key.to_vec(),
        group: group.to_vec(),
    }
    .into()
}
