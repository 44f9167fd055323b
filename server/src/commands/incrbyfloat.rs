//! `INCRBYFLOAT key increment`
//!
//! Adds to the number that a string is, and replies with the sum as it is kept: without an exponent, with
//! up to 17 decimals. A missing key counts as 0.
//!
//! Behaviour worth knowing:
//! - The arithmetic has 64 bits of precision: 10.5 and 0.1 make 10.6.
//! - The deadline of the key stays.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::LongDouble;
use tailrace_storage::Part;

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
    name: "incrbyfloat",
    arity: 3,
    syntax: "key increment:double",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["RW", "access", "update"])],
    group: Group::String,
    summary: "Adds a fraction to a number.",
    since: "2.6.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, by) = (args.bytes()?, args.bytes()?);

    let db = call.db;
    call.store().increment_with(db, key, |number| {
        let sum = add(number, by)?;
        reply.bulk(&sum);
        Ok::<_, CommandError>(sum)
    })?;
    Ok(Flow::Done)
}

fn add(number: Part<'_>, by: &[u8]) -> Result<Vec<u8>, CommandError> {
    let number = match number {
        Part::Int(value) => value.into(),
        Part::Bytes(text) => LongDouble::parse(text).ok_or(CommandError::NotAFloat)?,
    };
    let by = LongDouble::parse(by).ok_or(CommandError::NotAFloat)?;
    let sum = number.checked_add(by).ok_or(KeyspaceError::NotFinite)?;
    let mut text = Vec::new();
    sum.append_to(&mut text);
    Ok(text)
}
