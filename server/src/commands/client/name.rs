//! `CLIENT GETNAME`, `CLIENT SETNAME name`
//!
//! The name of the connection, for people who look at `CLIENT LIST`. An empty one takes it away.
//!
//! Behaviour worth knowing:
//! - A name has no blanks and no special characters.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::is_printable;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const GETNAME: Spec = Spec {
    name: "client|getname",
    arity: 2,
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Tells the name of the connection.",
    since: "2.6.9",
    ..Spec::of(run_getname)
};

pub(super) const SETNAME: Spec = Spec {
    name: "client|setname",
    arity: 3,
    syntax: "connection-name",
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    group: Group::Connection,
    summary: "Names the connection.",
    since: "2.6.9",
    ..Spec::of(run_setname)
};

fn run_getname(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let name = &call.client().name;
    if name.is_empty() {
        reply.null();
    } else {
        reply.bulk(name);
    }
    Ok(Flow::Done)
}

fn run_setname(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let name = args.bytes()?;
    check_name(name)?;
    call.client().name = name.to_vec();
    reply.ok();
    Ok(Flow::Done)
}

/// Insists that a name may stand in `CLIENT LIST`.
pub(in crate::commands) fn check_name(name: &[u8]) -> Result<(), CommandError> {
    if is_printable(name) {
        Ok(())
    } else {
        Err(ClientError::InvalidName.into())
    }
}
