//! `BITCOUNT key [start [end [BYTE|BIT]]]`
//!
//! Replies with how many bits of a string, or of a part of it, are set.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;
use tailrace_storage::Digits;
use tailrace_storage::count_bits;

use super::bit_args::Part;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "bitcount",
    arity: -2,
    syntax: "key [range(start:integer [end-unit-block(end:integer [unit@7.0.0(BYTE | BIT)])])]",
    flags: Flags::READONLY,
    acl: Acl::BITMAP,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::Bitmap,
    summary: "Counts the bits of a string that are set.",
    since: "2.6.0",
    history: &[
        ("7.0.0", "Takes `BYTE` and `BIT`."),
        (
            "8.0.0",
            "The end may be left out; it is the last byte then.",
        ),
    ],
    complexity: "O(N), N being the length of the part.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    if args.len() == 1 && call.store().settings().compat == Compat::Redis {
        return Err(CommandError::Syntax);
    }
    let part = Part::parse(args)?;

    let db = call.db;
    let count = call.store().string(db, key)?.map_or(0, |string| {
        let mut digits = Digits::default();
        let bytes = string.bytes_with(&mut digits);
        let range = part.bits_of(bytes.len()).filter(|_| !part.is_reversed());
        range.map_or(0, |range| count_bits(bytes, range))
    });

    reply.unsigned(count);
    Ok(Flow::Done)
}
