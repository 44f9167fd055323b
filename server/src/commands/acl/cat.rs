//! `ACL CAT [category]`
//!
//! Replies with the categories, or with the commands of one, subcommands included.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "acl|cat",
    arity: -2,
    syntax: "[category]",
    flags: Flags::NOSCRIPT.and(Flags::LOADING).and(Flags::STALE),
    group: Group::Server,
    summary: "Lists the categories of commands, or the commands of one.",
    since: "6.0.0",
    complexity: "O(N), N being the number of commands.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.len() > 1 {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }
    let Some(name) = args.next() else {
        reply.late_array(CATEGORIES.len());
        for name in CATEGORIES {
            reply.bulk(name.as_bytes());
        }
        return Ok(Flow::Done);
    };
    let is_asked = |known: &&str| is_word(name, known);
    if !CATEGORIES.iter().any(is_asked) {
        return Err(ServerError::NoSuchCategory(name[..name.len().min(128)].to_vec()).into());
    }

    let category = Acl::of_name(name);
    let mark = reply.mark();
    let mut count = 0;
    for spec in call.state.commands.all() {
        let with_subcommands = std::iter::once(spec).chain(spec.subcommands.iter().copied());
        for spec in with_subcommands.filter(|spec| spec.categories().has(category)) {
            count += 1;
            reply.bulk(spec.name.as_bytes());
        }
    }
    reply.insert_array(mark, count);
    Ok(Flow::Done)
}

/// All that the reference has; some belong to types of values that are not here.
const CATEGORIES: &[&str] = &[
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];
