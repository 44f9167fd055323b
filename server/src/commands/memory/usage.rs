//! `MEMORY USAGE key [SAMPLES count]`
//!
//! Replies with the bytes that a key and its value take, or with null if it is missing.
//!
//! Behaviour worth knowing:
//! - The bytes are counted as they come and go, so `SAMPLES` is read and changes nothing.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "memory|usage",
    arity: -3,
    syntax: "key [SAMPLES count:integer]",
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2, &["RO"])],
    group: Group::Server,
    summary: "Tells the bytes that a key and its value take.",
    since: "4.0.0",
    complexity: "O(1)",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    while !args.is_empty() {
        if !args.keyword_with("samples", 1) || args.integer()? < 0 {
            return Err(CommandError::Syntax);
        }
    }

    let db = call.db;
    match call.store().key_bytes(db, key) {
        Some(bytes) => reply.unsigned(bytes as u64),
        None => reply.null(),
    }
    Ok(Flow::Done)
}
