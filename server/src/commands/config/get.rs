//! `CONFIG GET pattern [pattern ...]`
//!
//! Replies with the directives whose names match, and their values.
//!
//! Behaviour worth knowing:
//! - A pattern without wildcards is a name, which is shown as it was written.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "config|get",
    arity: -3,
    syntax: "parameter...",
    flags: FLAGS,
    group: Group::Server,
    summary: "Returns the settings whose names match some patterns.",
    since: "2.0.0",
    history: &[("7.0.0", "Takes several patterns.")],
    complexity: "O(N), N being the number of patterns.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let found = call.state.config.get(args);

    reply.map(found.len());
    for (name, value) in found {
        reply.bulk(&name);
        reply.bulk(&value);
    }
    Ok(Flow::Done)
}
