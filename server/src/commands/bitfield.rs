//! `BITFIELD key [GET type offset | SET type offset value | INCRBY type offset increment |
//! OVERFLOW WRAP|SAT|FAIL ...]` and `BITFIELD_RO key [GET type offset ...]`
//!
//! Read and write numbers among the bits of a string. The reply has a result for each operation: what is
//! there, what was there before SET, the sum.
//!
//! Behaviour worth knowing:
//! - `OVERFLOW` holds for the operations that follow it. Under `FAIL` what does not fit is not written: null.
//! - An offset `#3` is the one of the fourth number of this type.
//! - All arguments are checked before anything is done.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::BitField;
use tailrace_storage::BitFieldOperation;
use tailrace_storage::BitOverflow;

use super::bit_args::field_position;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const BITFIELD: Spec = Spec {
    name: "bitfield",
    arity: -2,
    syntax: "key [operation(GET get-block(encoding:string offset:integer) | \
             write([OVERFLOW overflow-block(WRAP | SAT | FAIL)] \
             write-operation(SET set-block(encoding:string offset:integer value:integer) | \
             INCRBY incrby-block(encoding:string offset:integer increment:integer))))...]",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::BITMAP,
    keys: &[
        KeySpec::first(&["RW", "access", "update", "variable_flags"])
            .noted("This command allows both access and modification of the key"),
    ],
    key_flags: Some(key_flags),
    group: Group::Bitmap,
    summary: "Reads and writes numbers among the bits of a string.",
    since: "3.2.0",
    complexity: "O(1) for each operation",
    ..Spec::of(run)
};

pub(super) const BITFIELD_RO: Spec = Spec {
    name: "bitfield_ro",
    arity: -2,
    syntax: "key [GET... get-block(encoding:string offset:integer)]",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::BITMAP,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::Bitmap,
    summary: "Reads numbers among the bits of a string.",
    since: "6.0.0",
    complexity: "O(1) for each operation",
    ..Spec::of(run_read_only)
};

/// Whether it only reads.
fn key_flags(request: Request<'_>) -> &'static [&'static str] {
    let mut args = Args::new(request, 2);
    while !args.is_empty() {
        let skipped = if args.keyword_with("get", 2) {
            2
        } else if args.keyword_with("overflow", 1) {
            1
        } else {
            return &["RW", "access", "update"];
        };
        args = Args::new(request, request.len() - args.len() + skipped);
    }
    &["RO", "access"]
}

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let operations = parse(args, call)?;
    apply(call, key, &operations, reply)
}

fn run_read_only(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let operations = parse(args, call)?;
    if operations.iter().any(|(_, operation)| operation.writes()) {
        return Err(KeyspaceError::OnlyGet.into());
    }
    apply(call, key, &operations, reply)
}

fn apply(
    call: &mut Call<'_>,
    key: &[u8],
    operations: &[(BitField, BitFieldOperation)],
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let results = call.store().update_bit_fields(db, key, operations)?;

    reply.array(results.len());
    for result in results {
        match result {
            Some(number) => reply.integer(number),
            None => reply.null(),
        }
    }
    Ok(Flow::Done)
}

fn parse(
    mut args: Args<'_>,
    call: &mut Call<'_>,
) -> Result<Vec<(BitField, BitFieldOperation)>, CommandError> {
    let mut operations = Vec::new();
    let mut overflow = BitOverflow::default();
    while !args.is_empty() {
        if args.keyword_with("overflow", 1) {
            overflow = parse_overflow(args.bytes()?)?;
        } else if args.keyword_with("get", 2) {
            operations.push((field(&mut args, call)?, BitFieldOperation::Get));
        } else if args.keyword_with("set", 3) {
            let field = field(&mut args, call)?;
            operations.push((field, BitFieldOperation::Set(args.integer()?, overflow)));
        } else if args.keyword_with("incrby", 3) {
            let field = field(&mut args, call)?;
            operations.push((field, BitFieldOperation::Add(args.integer()?, overflow)));
        } else {
            return Err(CommandError::Syntax);
        }
    }
    Ok(operations)
}

fn field(args: &mut Args<'_>, call: &mut Call<'_>) -> Result<BitField, CommandError> {
    let (is_signed, width) = parse_type(args.bytes()?)?;
    Ok(BitField {
        offset: field_position(args.bytes()?, width, call)?,
        width,
        is_signed,
    })
}

/// `i8` is a number with a sign and 8 bits, `u8` one without.
fn parse_type(text: &[u8]) -> Result<(bool, u32), KeyspaceError> {
    let (is_signed, width, width_max) = match text.split_first() {
        Some((b'i', width)) => (true, width, 64),
        Some((b'u', width)) => (false, width, 63),
        _ => return Err(KeyspaceError::BitFieldType),
    };
    let width = parse_i64(width).and_then(|width| u32::try_from(width).ok());
    let width = width.filter(|width| (1..=width_max).contains(width));
    let width = width.ok_or(KeyspaceError::BitFieldType)?;
    Ok((is_signed, width))
}

fn parse_overflow(text: &[u8]) -> Result<BitOverflow, KeyspaceError> {
    let names = [
        ("wrap", BitOverflow::Wrap),
        ("sat", BitOverflow::Saturate),
        ("fail", BitOverflow::Fail),
    ];
    let found = names.iter().find(|(name, _)| is_word(text, name));
    found
        .map(|(_, overflow)| *overflow)
        .ok_or(KeyspaceError::OverflowType)
}
