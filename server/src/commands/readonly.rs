//! `READONLY`, `READWRITE`
//!
//! Says whether the connection is content with what a replica knows. Without a cluster that changes
//! nothing; `CLIENT LIST` shows it all the same. Redis refuses it then.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
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
    switch(call, true, reply)
}

fn readwrite(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    switch(call, false, reply)
}

fn switch(
    call: &mut Call<'_>,
    readonly: bool,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let is_alone = call.state.cluster.is_none();
    if is_alone && call.store().settings().compat == Compat::Redis {
        return Err(ServerError::NoCluster.into());
    }
    call.client().readonly = readonly;
    reply.ok();
    Ok(Flow::Done)
}
