//! `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`
//!
//! Walks over the keys of the database in steps. Replies with the cursor of the next step, 0 after the
//! last one, and with some keys.
//!
//! Behaviour worth knowing:
//! - A key that is there from the first step to the last is shown exactly once.
//! - `COUNT` is how many keys a step looks at, not how many it shows.
//! - The types of the reference that this server does not have are known, and match nothing.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_u64_lenient;
use tailrace_storage::Case;
use tailrace_storage::Compat;
use tailrace_storage::Value;
use tailrace_storage::glob_matches;

use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "scan",
    arity: -2,
    syntax: "cursor:integer [MATCH pattern] [COUNT count:integer] [TYPE type@6.0.0]",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    tips: &[
        "nondeterministic_output",
        "request_policy:special",
        "response_policy:special",
    ],
    summary: "Walks over the keys of the database, some at a time.",
    since: "2.8.0",
    history: &[("6.0.0", "Takes a `TYPE`.")],
    complexity: "O(1) for each step, O(N) for the whole walk, N being the number of keys.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let cursor = parse_u64_lenient(args.bytes()?).ok_or(KeyspaceError::InvalidCursor)?;
    let filter = Filter::parse(args, call.store().settings().compat)?;

    // The cursor goes first and is known last.
    let mut found = Vec::new();
    let mut shown = ReplyWriter::new(&mut found, reply.version());
    let mut count = 0;
    let db = call.db;
    let admits = |key: &[u8], value: &Value| filter.admits(key, value);
    let next = call.store().scan(db, cursor, filter.count, admits, |key| {
        shown.bulk(key);
        count += 1;
    });

    reply.array(2);
    reply.bulk_integer(next.cast_signed());
    reply.array(count);
    reply.raw(&found);
    Ok(Flow::Done)
}

/// Which keys to show, and how many to look at.
pub(super) struct Filter<'a> {
    pub(super) pattern: Option<&'a [u8]>,
    type_name: Option<&'a [u8]>,
    pub(super) count: usize,
    /// The only slot to look at, where that may be asked for.
    pub(super) slot: Option<u16>,
}

/// Reads the number of a slot.
type ParseSlot = fn(&[u8]) -> Result<u16, ClusterError>;

impl<'a> Filter<'a> {
    fn parse(args: Args<'a>, compat: Compat) -> Result<Self, CommandError> {
        Self::parse_any(args, compat, None)
    }

    /// As [`Self::parse`], with `SLOT` as one more option.
    pub(super) fn parse_with_slot(
        args: Args<'a>,
        compat: Compat,
        parse_slot: ParseSlot,
    ) -> Result<Self, CommandError> {
        Self::parse_any(args, compat, Some(parse_slot))
    }

    fn parse_any(
        mut args: Args<'a>,
        compat: Compat,
        parse_slot: Option<ParseSlot>,
    ) -> Result<Self, CommandError> {
        let mut filter = Self {
            pattern: None,
            type_name: None,
            count: COUNT_DEFAULT,
            slot: None,
        };
        while !args.is_empty() {
            if args.keyword_with("count", 1) {
                filter.count = usize::try_from(args.integer()?).unwrap_or(0);
                if filter.count == 0 {
                    return Err(CommandError::Syntax);
                }
            } else if args.keyword_with("match", 1) {
                filter.pattern = Some(args.bytes()?).filter(|pattern| *pattern != b"*");
            } else if args.keyword_with("type", 1) {
                let name = args.bytes()?;
                if compat == Compat::Valkey && !is_type(name) {
                    return Err(KeyspaceError::UnknownType(name.to_vec()).into());
                }
                filter.type_name = Some(name);
            } else if args.keyword("novalues") {
                return Err(KeyspaceError::NoValuesOutsideHscan.into());
            } else if args.keyword("noscores") {
                return Err(KeyspaceError::NoScoresOutsideZscan.into());
            } else if let Some(parse_slot) = parse_slot
                && args.keyword_with("slot", 1)
            {
                if filter.slot.is_some() {
                    return Err(ClusterError::SlotTwice.into());
                }
                filter.slot = Some(parse_slot(args.bytes()?)?);
            } else {
                return Err(CommandError::Syntax);
            }
        }
        Ok(filter)
    }

    pub(super) fn admits(&self, key: &[u8], value: &Value) -> bool {
        let is_of_type = |name: &[u8]| is_word(name, value.kind().name());
        self.type_name.is_none_or(is_of_type)
            && self
                .pattern
                .is_none_or(|pattern| glob_matches(pattern, key, Case::Sensitive))
    }
}

fn is_type(name: &[u8]) -> bool {
    TYPES.iter().any(|known| is_word(name, known))
}

/// What the reference knows.
const TYPES: &[&str] = &["string", "list", "set", "zset", "hash", "stream"];
/// How many keys a step looks at unless told otherwise.
const COUNT_DEFAULT: usize = 10;
