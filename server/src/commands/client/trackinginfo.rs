//! `CLIENT TRACKINGINFO`
//!
//! Replies that the keys that the client reads are not tracked.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|trackinginfo",
    arity: 2,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Tells whether keys are tracked for the client.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(1);
    reply.bulk(b"off");
    reply.bulk(b"redirect");
    reply.integer(-1);
    reply.bulk(b"prefixes");
    reply.array(0);
    Ok(Flow::Done)
}
