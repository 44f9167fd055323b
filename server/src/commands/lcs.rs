//! `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]`
//!
//! Replies with the longest bytes that both strings have in common in the same order, gaps allowed; with how
//! many there are; or with where they stand. Of several that are equally long, which one it is follows the reference.
//!
//! Behaviour worth knowing:
//! - Missing keys are empty strings.
//! - Keys are looked at before options are.
//! - Without `IDX`, `MINMATCHLEN` and `WITHMATCHLEN` change nothing.
//! - What the comparison takes in memory, the product of both lengths, is bounded by `proto-max-bulk-len`.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Digits;
use tailrace_storage::Store;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
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
        find: Find::Range {
            last: 1,
            step: 1,
            limit: 0,
        },
        ..KeySpec::first(&["RO", "access"])
    }],
    group: Group::String,
    summary: "Compares two strings and returns the longest row of bytes that is in both.",
    since: "7.0.0",
    complexity: "O(N*M), N and M being the lengths of the strings.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let keys = [args.bytes()?, args.bytes()?];
    let db = call.db;
    let [left, right] = keys.map(|key| read(call.store(), db, key));
    let (left, right) = (left?, right?);
    let options = Options::parse(args)?;

    let table = Table::of(&left, &right, call.store().settings().string_bytes_max)?;

    match options.wanted {
        Wanted::Length => reply.unsigned(table.len().into()),
        Wanted::Bytes => reply.bulk(&table.common()),
        Wanted::Places => write_places(&table, &options, reply),
    }
    Ok(Flow::Done)
}

/// A missing key holds nothing.
fn read(store: &mut Store, db: usize, key: &[u8]) -> Result<Vec<u8>, CommandError> {
    let found = store.string(db, key);
    let found = found.map_err(|_| KeyspaceError::LcsOfOtherTypes)?;
    let mut digits = Digits::default();
    Ok(found.map_or_else(Vec::new, |value| value.bytes_with(&mut digits).to_vec()))
}

fn write_places(table: &Table<'_>, options: &Options, reply: &mut ReplyWriter<'_>) {
    let mut matches = table.matches();
    matches.retain(|found| i64::from(found.len) >= options.len_min);

    reply.map(2);
    reply.bulk(b"matches");
    reply.array(matches.len());
    for found in matches {
        reply.array(if options.with_lengths { 3 } else { 2 });
        for start in [found.left, found.right] {
            reply.array(2);
            reply.unsigned(start.into());
            reply.unsigned((start + found.len - 1).into());
        }
        if options.with_lengths {
            reply.unsigned(found.len.into());
        }
    }
    reply.bulk(b"len");
    reply.unsigned(table.len().into());
}

struct Options {
    wanted: Wanted,
    len_min: i64,
    with_lengths: bool,
}

enum Wanted {
    Bytes,
    Length,
    Places,
}

impl Options {
    fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        let (mut places, mut length) = (false, false);
        let (mut len_min, mut with_lengths) = (0, false);
        while !args.is_empty() {
            if args.keyword("idx") {
                places = true;
            } else if args.keyword("len") {
                length = true;
            } else if args.keyword("withmatchlen") {
                with_lengths = true;
            } else if args.keyword_with("minmatchlen", 1) {
                len_min = args.integer()?;
            } else {
                return Err(CommandError::Syntax);
            }
        }
        let wanted = match (places, length) {
            (true, true) => return Err(KeyspaceError::LcsLengthAndPlaces.into()),
            (true, false) => Wanted::Places,
            (false, true) => Wanted::Length,
            (false, false) => Wanted::Bytes,
        };
        Ok(Self {
            wanted,
            len_min,
            with_lengths,
        })
    }
}

/// How many bytes each beginning of one string has in common with each beginning of the other.
struct Table<'a> {
    left: &'a [u8],
    right: &'a [u8],
    /// A row for each length of the left beginning, a column for each of the right one.
    lens: Vec<u32>,
}

/// Bytes that stand together in both strings.
struct Match {
    left: u32,
    right: u32,
    len: u32,
}

impl<'a> Table<'a> {
    fn of(left: &'a [u8], right: &'a [u8], bytes_max: usize) -> Result<Self, KeyspaceError> {
        let too_long = |text: &[u8]| text.len() >= u32::MAX as usize - 1;
        if too_long(left) || too_long(right) {
            return Err(KeyspaceError::LcsTooLong);
        }
        let cells = (left.len() + 1).checked_mul(right.len() + 1);
        let cells = cells.ok_or(KeyspaceError::LcsNoMemory)?;
        if cells
            .checked_mul(size_of::<u32>())
            .is_none_or(|bytes| bytes > bytes_max)
        {
            return Err(KeyspaceError::LcsMemoryLimit);
        }
        let mut lens = Vec::new();
        let reserved = lens.try_reserve_exact(cells);
        reserved.map_err(|_| KeyspaceError::LcsNoMemory)?;
        lens.resize(cells, 0);

        let mut table = Self { left, right, lens };
        table.fill();
        Ok(table)
    }

    fn fill(&mut self) {
        let width = self.right.len() + 1;
        for (row, left) in self.left.iter().enumerate() {
            let (above, below) = self.lens.split_at_mut((row + 1) * width);
            let above = &above[row * width..];
            for (column, right) in self.right.iter().enumerate() {
                below[column + 1] = if left == right {
                    above[column] + 1
                } else {
                    above[column + 1].max(below[column])
                };
            }
        }
    }

    /// How many bytes the whole strings have in common.
    fn len(&self) -> u32 {
        self.at(self.left.len(), self.right.len())
    }

    /// Those bytes.
    fn common(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len() as usize);
        self.walk(|left, _| bytes.push(self.left[left]));
        bytes.reverse();
        bytes
    }

    /// Where they stand, the last ones first.
    ///
    /// What stands together in both is one match, so that `walk` goes on where a match would begin.
    fn matches(&self) -> Vec<Match> {
        let mut matches: Vec<Match> = Vec::new();
        let position = |index: usize| u32::try_from(index).expect("the lengths were checked");
        self.walk(|left, right| {
            let (left, right) = (position(left), position(right));
            match matches.last_mut() {
                Some(last) if last.left == left + 1 && last.right == right + 1 => {
                    (last.left, last.right) = (left, right);
                    last.len += 1;
                }
                _ => matches.push(Match {
                    left,
                    right,
                    len: 1,
                }),
            }
        });
        matches
    }

    /// Calls `on_common` with the places of each byte in common, from the end.
    fn walk(&self, mut on_common: impl FnMut(usize, usize)) {
        let (mut left, mut right) = (self.left.len(), self.right.len());
        while left > 0 && right > 0 {
            if self.left[left - 1] == self.right[right - 1] {
                left -= 1;
                right -= 1;
                on_common(left, right);
            } else if self.at(left - 1, right) > self.at(left, right - 1) {
                left -= 1;
            } else {
                right -= 1;
            }
        }
    }

    fn at(&self, left: usize, right: usize) -> u32 {
        self.lens[left * (self.right.len() + 1) + right]
    }
}
