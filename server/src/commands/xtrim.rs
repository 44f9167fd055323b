//! `XTRIM key MAXLEN|MINID [=|~] threshold [LIMIT count]`
//!
//! Removes the oldest entries and replies with how many went.
//!
//! Behaviour worth knowing:
//! - `~` removes whole nodes of the stream only, and no more than `LIMIT` entries; 0 is no limit,
//!   and without `LIMIT` a hundred nodes go at most.
//! - Trimming leaves the highest deleted ID alone, as `XDEL` does not.

use tailrace_protocol::ReplyWriter;

use super::trim_args::TrimArgs;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xtrim",
    arity: -4,
    syntax: "key trim(strategy(MAXLEN|MINID@6.2.0) [operator(equal:'='|approximately:'~')] \
             threshold [LIMIT count:integer@6.2.0])",
    flags: Flags::WRITE,
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "delete"])],
    tips: &["nondeterministic_output"],
    group: Group::Stream,
    summary: "Removes the oldest entries of a stream.",
    since: "5.0.0",
    history: &[("6.2.0", "Takes `MINID` and `LIMIT`.")],
    complexity: "O(N), N being the number of entries that go.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let mut trim = TrimArgs::default();
    while !args.is_empty() {
        if !trim.take(&mut args)? {
            return Err(CommandError::Syntax);
        }
    }
    let trim = trim.finish_required(call.store().settings().node_limits.entries_max)?;

    let db = call.db;
    let trimmed = call.store().trim(db, key, trim)?;

    reply.unsigned(trimmed);
    Ok(Flow::Done)
}
