//! `CLIENT CACHING YES | NO`
//!
//! Always an error: no keys are tracked, so the client cannot say which of them it caches.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|caching",
    arity: 3,
    syntax: "mode(YES|NO)",
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Chooses whether the keys of the next command are tracked.",
    since: "6.0.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    Err(ClientError::NotTracking.into())
}
