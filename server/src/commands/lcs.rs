//! `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]`
//!
//! Replies with the longest common subsequence of two strings, with its length, or with where its parts
//! stand in both.
//!
//! Behaviour worth knowing:
//! - A missing key is an empty string. One that is no string is an error of its own, before any other.
//! - Parts come from the last to the first; `MINMATCHLEN` leaves short ones out of the list only.
//! - What it would take to compare the two may not exceed `proto-max-bulk-len`.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Digits;
use tailrace_storage::Match;
use tailrace_storage::Subsequence;
use tailrace_storage::SubsequenceError;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "lcs",
    arity: -3,
    syntax: "key1:key key2:key [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]",
    flags: Flags::READONLY,
    acl: Acl::STRING,
    keys: &[KeySpec {
        notes: None,
        flags: &["RO", "access"],
        begin: Begin::Index(1),
        find: Find::Range {
            last: 1,
            step: 1,
            limit: 0,
        },
    }],
    group: Group::String,
    summary: "Finds the longest subsequence that two strings have in common.",
    since: "7.0.0",
    complexity: "O(N*M), N and M being the lengths of the strings.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (one, other) = (args.bytes()?, args.bytes()?);
    let (one, other) = (text(call, one), text(call, other));
    let (one, other) = (one?, other?);
    let options = Options::parse(args)?;
    let bytes_max = call.state.config.settings().proto_max_bulk_len;

    let common = Subsequence::find(&one, &other, bytes_max)?;

    match options.shown {
        Shown::Bytes => reply.bulk(&common.bytes()),
        Shown::Len => reply.unsigned(common.len() as u64),
        Shown::Parts => write_parts(&common, &options, reply),
    }
    Ok(Flow::Done)
}

fn text(call: &mut Call<'_>, key: &[u8]) -> Result<Vec<u8>, CommandError> {
    let db = call.db;
    match call.store().string(db, key) {
        Ok(Some(value)) => Ok(value.bytes_with(&mut Digits::default()).to_vec()),
        Ok(None) => Ok(Vec::new()),
        Err(_) => Err(KeyspaceError::NotStrings.into()),
    }
}

struct Options {
    shown: Shown,
    part_len_min: i64,
    has_part_lens: bool,
}

enum Shown {
    Bytes,
    Len,
    Parts,
}

impl Options {
    fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        let (mut has_len, mut has_parts) = (false, false);
        let mut options = Self {
            shown: Shown::Bytes,
            part_len_min: 0,
            has_part_lens: false,
        };
        while !args.is_empty() {
            if args.keyword("idx") {
                has_parts = true;
            } else if args.keyword("len") {
                has_len = true;
            } else if args.keyword("withmatchlen") {
                options.has_part_lens = true;
            } else if args.keyword_with("minmatchlen", 1) {
                options.part_len_min = args.integer()?;
            } else {
                return Err(CommandError::Syntax);
            }
        }
        options.shown = match (has_len, has_parts) {
            (true, true) => return Err(KeyspaceError::LenAndIdx.into()),
            (true, false) => Shown::Len,
            (false, true) => Shown::Parts,
            (false, false) => Shown::Bytes,
        };
        Ok(options)
    }
}

fn write_parts(common: &Subsequence<'_>, options: &Options, reply: &mut ReplyWriter<'_>) {
    let part_len_min = usize::try_from(options.part_len_min).unwrap_or(0);
    let mut count = 0;

    reply.map(2);
    reply.bulk(b"matches");
    let mark = reply.mark();
    for Match { one, other } in common.matches() {
        let len = one.1 - one.0 + 1;
        if len < part_len_min {
            continue;
        }
        count += 1;
        reply.array(if options.has_part_lens { 3 } else { 2 });
        for (start, end) in [one, other] {
            reply.array(2);
            reply.unsigned(start as u64);
            reply.unsigned(end as u64);
        }
        if options.has_part_lens {
            reply.unsigned(len as u64);
        }
    }
    reply.insert_array(mark, count);
    reply.bulk(b"len");
    reply.unsigned(common.len() as u64);
}

impl From<SubsequenceError> for CommandError {
    fn from(error: SubsequenceError) -> Self {
        match error {
            SubsequenceError::TooLong => KeyspaceError::TooLongForLcs.into(),
            SubsequenceError::AboveLimit => KeyspaceError::LcsAboveLimit.into(),
            SubsequenceError::OutOfMemory => KeyspaceError::LcsOutOfMemory.into(),
        }
    }
}
