//! `BITOP AND|OR|XOR|NOT destkey key [key ...]`
//!
//! Combines strings bit by bit, puts the result under `destkey` and replies with its length.
//!
//! Behaviour worth knowing:
//! - Shorter strings and missing keys count as followed by clear bits.
//! - If all of them are empty or missing, `destkey` is removed.
//! - A deadline of `destkey` goes.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::BitOperation;

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
    name: "bitop",
    arity: -4,
    syntax: "operation(AND | OR | XOR | NOT) destkey:key key:key#1...",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::BITMAP,
    keys: &[
        KeySpec::at(2, &["OW", "update"]),
        KeySpec {
            begin: Begin::Index(3),
            find: Find::Range {
                last: -1,
                step: 1,
                limit: 0,
            },
            ..KeySpec::first(&["RO", "access"])
        },
    ],
    group: Group::Bitmap,
    summary: "Combines strings bit by bit and keeps the result.",
    since: "2.6.0",
    complexity: "O(N), N being the length of all strings.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let operation = operation(&mut args)?;
    let target = args.bytes()?;
    if operation == BitOperation::Not && args.len() != 1 {
        return Err(KeyspaceError::NotOfSeveral.into());
    }

    let db = call.db;
    let len = call.store().combine_bits(db, operation, target, args)?;

    reply.unsigned(len as u64);
    Ok(Flow::Done)
}

fn operation(args: &mut Args<'_>) -> Result<BitOperation, CommandError> {
    let names = [
        ("and", BitOperation::And),
        ("or", BitOperation::Or),
        ("xor", BitOperation::Xor),
        ("not", BitOperation::Not),
    ];
    let found = names.iter().find(|(name, _)| args.keyword(name));
    found
        .map(|(_, operation)| *operation)
        .ok_or(CommandError::Syntax)
}
