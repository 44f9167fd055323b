//! `BITPOS key bit [start [end [BYTE|BIT]]]`
//!
//! Replies with the position of the first bit that is set, or clear, and with -1 if there is none.
//!
//! Behaviour worth knowing:
//! - Without an end, the string counts as followed by clear bits.
//! - Nothing is found in a part that holds nothing, but a missing key counts as clear bits throughout.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Digits;
use tailrace_storage::find_bit;

use super::bit_args::Part;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "bitpos",
    arity: -3,
    syntax: "key bit:integer \
             [range(start:integer [end-unit-block(end:integer [unit@7.0.0(BYTE | BIT)])])]",
    flags: Flags::READONLY,
    acl: Acl::BITMAP,
    keys: &[KeySpec::first(&["RO", "access"])],
    group: Group::Bitmap,
    summary: "Finds the first bit of a string that is set, or that is clear.",
    since: "2.8.7",
    history: &[("7.0.0", "Takes `BYTE` and `BIT`.")],
    complexity: "O(N), N being the length of the part.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let bit = match args.integer()? {
        0 => false,
        1 => true,
        _ => return Err(KeyspaceError::BitArgument.into()),
    };
    let part = Part::parse(args)?;

    let db = call.db;
    let found = match call.store().string(db, key)? {
        None if bit => None,
        None => Some(0),
        Some(string) => {
            let mut digits = Digits::default();
            let bytes = string.bytes_with(&mut digits);
            part.bits_of(bytes.len()).and_then(|range| {
                let behind = (!bit && part.end.is_none()).then_some(*range.end() + 1);
                find_bit(bytes, bit, range).or(behind)
            })
        }
    };

    match found {
        Some(position) => reply.unsigned(position as u64),
        None => reply.integer(-1),
    }
    Ok(Flow::Done)
}
