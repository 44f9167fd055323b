//! `COMMAND [COUNT | DOCS | GETKEYS | GETKEYSANDFLAGS | HELP | INFO | LIST]`: what the commands are.
//!
//! Everything is told from the commands' own `Spec`s, in the order of their names.

mod count;
mod docs;
mod get_keys;
mod help;
mod info;
mod list;

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command",
    flags: FLAGS,
    acl: Acl::CONNECTION,
    tips: UNORDERED,
    group: Group::Server,
    summary: "Describes all commands.",
    since: "2.8.13",
    complexity: "O(N), N being the number of commands.",
    subcommands: &[
        &count::SPEC,
        &docs::SPEC,
        &get_keys::SPEC,
        &get_keys::WITH_FLAGS,
        &help::SPEC,
        &info::SPEC,
        &list::SPEC,
    ],
    ..Spec::of(run)
};

const FLAGS: Flags = Flags::LOADING.and(Flags::STALE);
const UNORDERED: &[&str] = &["nondeterministic_output_order"];

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    info::write_all(&call.state.commands, reply);
    Ok(Flow::Done)
}
