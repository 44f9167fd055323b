//! `COMMAND GETKEYS | GETKEYSANDFLAGS command [arg ...]`
//!
//! Replies with the keys among the arguments of a whole command, which is not executed.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::info;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::command_table::Lookup;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::keys::Key;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "command|getkeys",
    arity: -3,
    syntax: "command [arg...]",
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Server,
    summary: "Finds the keys of a whole command.",
    since: "2.8.13",
    complexity: "O(N), N being the number of arguments.",
    ..Spec::of(run)
};

pub(super) const WITH_FLAGS: Spec = Spec {
    name: "command|getkeysandflags",
    syntax: "command [arg...]",
    summary: "Finds the keys of a whole command, and what would happen to them.",
    since: "7.0.0",
    run: run_with_flags,
    ..SPEC
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let keys = find(call, args)?;

    let request = args.rest();
    reply.array(keys.len());
    for key in keys {
        reply.bulk(request.get(key.position).unwrap_or_default());
    }
    Ok(Flow::Done)
}

fn run_with_flags(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let keys = find(call, args)?;

    let request = args.rest();
    reply.array(keys.len());
    for key in keys {
        reply.array(2);
        reply.bulk(request.get(key.position).unwrap_or_default());
        info::write_key_flags(key.flags, reply);
    }
    Ok(Flow::Done)
}

fn find(call: &Call<'_>, args: Args<'_>) -> Result<Vec<Key>, CommandError> {
    let request = args.rest();
    let Lookup::Found(spec) = call.state.commands.look_up(request) else {
        return Err(ServerError::NoSuchCommand.into());
    };
    if !spec.has_keys() {
        return Err(ServerError::WithoutKeys.into());
    }
    if !spec.fits(request.len()) {
        return Err(ServerError::CommandArity.into());
    }
    let keys = spec.keys_of(request).unwrap_or_default();
    if keys.is_empty() && !spec.flags.has(Flags::NO_MANDATORY_KEYS) {
        return Err(ServerError::CommandSyntax.into());
    }
    Ok(keys)
}
