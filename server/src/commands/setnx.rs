//! `SETNX key value`
//!
//! Sets a string if the key is missing. Replies with 1 or 0.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::SetCondition;
use tailrace_storage::SetOptions;
use tailrace_storage::SetOutcome;

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
    name: "setnx",
    arity: 3,
    syntax: "key value",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STRING,
    keys: &[KeySpec::first(&["OW", "insert"])],
    group: Group::String,
    summary: "Sets a string if the key is missing.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, value) = (args.bytes()?, args.bytes()?);
    let options = SetOptions {
        condition: SetCondition::Missing,
        ..SetOptions::default()
    };

    let db = call.db;
    let outcome = call.store().set(db, key, value, options)?;

    reply.integer((outcome == SetOutcome::Done).into());
    Ok(Flow::Done)
}
