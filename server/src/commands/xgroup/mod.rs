//! `XGROUP CREATE|SETID|DESTROY|CREATECONSUMER|DELCONSUMER|HELP`
//!
//! Makes, moves and removes groups and their consumers.
//!
//! Behaviour worth knowing:
//! - What is wrong with the options comes first, then the key, the group, and last the ID.

mod consumers;
mod create;
mod destroy;
mod setid;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::GroupError;
use tailrace_storage::Store;
use tailrace_storage::Stream;
use tailrace_storage::Value;

use super::encode;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::StreamError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Stream,
    summary: "Makes, moves and removes groups and their consumers.",
    since: "5.0.0",
    ..Spec::container(
        "xgroup",
        &[
            &create::SPEC,
            &consumers::CREATE,
            &consumers::DELETE,
            &destroy::SPEC,
            &HELP,
            &setid::SPEC,
        ],
    )
};

const HELP: Spec = Spec {
    name: "xgroup|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    acl: Acl::STREAM,
    group: Group::Stream,
    summary: "Says what the subcommands do.",
    since: "5.0.0",
    ..Spec::of(run_help)
};

fn run_help(
    _: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "XGROUP",
        &[
            (
                "CREATE <key> <group> <id|$> [MKSTREAM] [ENTRIESREAD <count>]",
                "Make a group that reads what comes after the ID; $ is the last of the stream.",
            ),
            (
                "CREATECONSUMER <key> <group> <consumer>",
                "Make a consumer.",
            ),
            (
                "DELCONSUMER <key> <group> <consumer>",
                "Remove a consumer and all that it has pending.",
            ),
            (
                "DESTROY <key> <group>",
                "Remove a group, its consumers and all that they have pending.",
            ),
            (
                "SETID <key> <group> <id|$> [ENTRIESREAD <count>]",
                "Let a group go on after another ID.",
            ),
        ],
    );
    Ok(Flow::Done)
}

/// `XGROUP` wants a stream to be there.
fn require<'a>(store: &'a mut Store, db: usize, key: &[u8]) -> Result<&'a Stream, CommandError> {
    find(store, db, key)?.ok_or_else(|| StreamError::KeyRequired.into())
}

/// The stream as a command sees it that is about to change it.
fn find<'a>(
    store: &'a mut Store,
    db: usize,
    key: &[u8],
) -> Result<Option<&'a Stream>, CommandError> {
    let stream = store.lookup(db, key).map(Value::as_stream);
    Ok(stream.transpose()?)
}

/// The words for what storage refused.
fn refused(error: GroupError, key: &[u8], group: &[u8]) -> CommandError {
    match error {
        GroupError::NoSuchKey => StreamError::KeyRequired.into(),
        GroupError::WrongType => CommandError::WrongType,
        GroupError::NoGroup => no_such_group(group, key),
    }
}

/// The words of `XGROUP` and `XINFO` for a group that is missing.
pub(super) fn no_such_group(group: &[u8], key: &[u8]) -> CommandError {
    StreamError::NoSuchGroup {
        group: group.to_vec(),
        key: key.to_vec(),
    }
    .into()
}

/// The options behind the ID.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    /// Whether to make the stream if it is missing.
    mkstream: bool,
    /// `None` if unknown.
    entries_read: Option<u64>,
}

/// Whether `MKSTREAM` is an option.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mkstream {
    Allowed,
    Unknown,
}

impl Options {
    fn parse(
        mut args: Args<'_>,
        call: &Call<'_>,
        mkstream: Mkstream,
    ) -> Result<Self, CommandError> {
        let mut options = Self::default();
        while !args.is_empty() {
            if mkstream == Mkstream::Allowed && args.keyword("mkstream") {
                options.mkstream = true;
            } else if args.keyword_with("entriesread", 1) {
                let count = args.integer()?;
                if count < -1 {
                    return Err(StreamError::EntriesReadNegative.into());
                }
                options.entries_read = u64::try_from(count).ok();
            } else {
                return Err(CommandError::subcommand_syntax(call.spec, args.request()));
            }
        }
        Ok(options)
    }
}

/// Refuses options that are right one by one but too many.
fn check_len(call: &Call<'_>, request: Request<'_>, len_max: usize) -> Result<(), CommandError> {
    if request.len() > len_max {
        return Err(CommandError::subcommand_syntax(call.spec, request));
    }
    Ok(())
}
