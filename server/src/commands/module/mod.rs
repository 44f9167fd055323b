//! `MODULE LIST | HELP`
//!
//! Modules cannot be loaded, so the list is empty. (The reference lists its own Lua engine.)

mod help;

use tailrace_protocol::ReplyWriter;

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

fn list(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.array(0);
    Ok(Flow::Done)
}
