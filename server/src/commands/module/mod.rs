//! `MODULE LIST | HELP`
//!
//! Modules cannot be loaded. In Valkey the engine for scripts is one that is always there, which
//! clients may look for, so it is listed.

mod help;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Compat;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Shows the modules that are loaded.",
    since: "4.0.0",
    ..Spec::container("module", &[&help::SPEC, &LIST])
};

const LIST: Spec = Spec {
    name: "module|list",
    arity: 2,
    flags: Flags::ADMIN.and(Flags::NOSCRIPT),
    tips: &["nondeterministic_output_order"],
    group: Group::Server,
    summary: "Lists the modules that are loaded.",
    since: "4.0.0",
    ..Spec::of(list)
};

fn list(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    write_list(call.state.config.settings().compat, reply);
    Ok(Flow::Done)
}

/// Writes the modules that are there.
pub(super) fn write_list(compat: Compat, reply: &mut ReplyWriter<'_>) {
    if compat == Compat::Redis {
        return reply.array(0);
    }
    reply.array(1);
    reply.map(4);
    reply.bulk(b"name");
    reply.bulk(b"lua");
    reply.bulk(b"ver");
    reply.integer(1);
    reply.bulk(b"path");
    reply.bulk(b"lua");
    reply.bulk(b"args");
    reply.array(0);
}
