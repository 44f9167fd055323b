//! `READONLY`, `READWRITE`
//!
//! Says whether the connection is content with what a replica knows. Without a cluster that changes
//! nothing; `CLIENT LIST` shows it all the same.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const READONLY: Spec = Spec {
    name: "readonly",
    arity: 1,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Cluster,
    summary: "Lets the connection read from a replica.",
    since: "3.0.0",
    ..Spec::of(readonly)
};

pub(super) const READWRITE: Spec = Spec {
    name: "readwrite",
    arity: 1,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Cluster,
    summary: "Takes back READONLY.",
    since: "3.0.0",
    ..Spec::of(readwrite)
};

const FLAGS: Flags = Flags::FAST.and(Flags::LOADING).and(Flags::STALE);

fn readonly(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.client().readonly = true;
    reply.ok();
    Ok(Flow::Done)
}

fn readwrite(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    call.client().readonly = false;
    reply.ok();
    Ok(Flow::Done)
}
