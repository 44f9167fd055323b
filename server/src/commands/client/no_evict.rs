//! `CLIENT NO-EVICT ON | OFF`
//!
//! Notes whether the connection may be closed to save memory, which this server never does.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::switch;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|no-evict",
    arity: 3,
    syntax: "enabled(ON|OFF)",
    flags: FLAGS.and(Flags::ADMIN).and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Exempts the connection from eviction.",
    since: "7.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.client().no_evict = switch(&mut args)?;
    reply.ok();
    Ok(Flow::Done)
}
