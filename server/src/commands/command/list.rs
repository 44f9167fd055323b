//! `COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern]`
//!
//! Replies with names, those of subcommands included.
//!
//! Behaviour worth knowing:
//! - A category or a module that there is not is no error: nothing belongs to it.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Case;
use tailrace_storage::glob_matches;

use super::FLAGS;
use super::UNORDERED;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command|list",
    arity: -2,
    syntax: "[FILTERBY filterby(MODULE module-name | ACLCAT category | PATTERN pattern)]",
    flags: FLAGS,
    acl: Acl::CONNECTION,
    tips: UNORDERED,
    group: Group::Server,
    summary: "Lists the names of the commands.",
    since: "7.0.0",
    complexity: "O(N), N being the number of commands.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let filter = Filter::parse(args)?;

    let mark = reply.mark();
    let mut count = 0;
    for spec in call.state.commands.all() {
        let with_subcommands = std::iter::once(spec).chain(spec.subcommands.iter().copied());
        for spec in with_subcommands.filter(|spec| filter.passes(spec)) {
            count += 1;
            reply.bulk(spec.name.as_bytes());
        }
    }
    reply.insert_array(mark, count);
    Ok(Flow::Done)
}

/// Which commands are listed.
enum Filter<'a> {
    All,
    Category(Acl),
    Matching(&'a [u8]),
}

impl<'a> Filter<'a> {
    fn parse(mut args: Args<'a>) -> Result<Self, CommandError> {
        if args.is_empty() {
            return Ok(Self::All);
        }
        if args.len() != 3 || !args.keyword("filterby") {
            return Err(CommandError::Syntax);
        }
        if args.keyword("module") {
            // No command comes from a module.
            Ok(Self::Category(Acl::NONE))
        } else if args.keyword("aclcat") {
            Ok(Self::Category(Acl::of_name(args.bytes()?)))
        } else if args.keyword("pattern") {
            Ok(Self::Matching(args.bytes()?))
        } else {
            Err(CommandError::Syntax)
        }
    }

    fn passes(&self, spec: &Spec) -> bool {
        match self {
            Self::All => true,
            Self::Category(category) => spec.categories().has(*category),
            Self::Matching(pattern) => glob_matches(pattern, spec.name.as_bytes(), Case::Ignored),
        }
    }
}
