//! The command table. To add a command: write its file beside the others, then list its `SPEC` here.

mod echo;
mod encode;
mod group_args;
mod help;
mod ping;
mod read_args;
mod trim_args;
mod xack;
mod xadd;
mod xautoclaim;
mod xclaim;
mod xdel;
mod xgroup;
mod xinfo;
mod xlen;
mod xpending;
mod xrange;
mod xread;
mod xreadgroup;
mod xrevrange;
mod xsetid;
mod xtrim;

use std::collections::HashMap;
use std::sync::LazyLock;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Spec;

/// Every command, in no particular order. `COMMAND` lists them by name.
pub static COMMANDS: &[&Spec] = &[
    &echo::SPEC,
    &ping::SPEC,
    &xack::SPEC,
    &xadd::SPEC,
    &xautoclaim::SPEC,
    &xclaim::SPEC,
    &xdel::SPEC,
    &xgroup::SPEC,
    &xinfo::SPEC,
    &xlen::SPEC,
    &xpending::SPEC,
    &xrange::SPEC,
    &xread::SPEC,
    &xreadgroup::SPEC,
    &xrevrange::SPEC,
    &xsetid::SPEC,
    &xtrim::SPEC,
];

/// What is known of a name.
pub(crate) enum Lookup {
    /// A command, or a subcommand of one.
    Found(&'static Spec),
    /// The container exists, the subcommand does not.
    UnknownSubcommand(&'static Spec),
    /// No such command.
    Unknown,
}

/// Finds the command, or subcommand, that a request names, in any case.
pub(crate) fn look_up(request: Request<'_>) -> Lookup {
    let Some(spec) = find(request.get(0).unwrap_or_default()) else {
        return Lookup::Unknown;
    };
    if spec.subcommands.is_empty() {
        return Lookup::Found(spec);
    }
    match request.get(1) {
        // Its arity says what is wrong.
        None => Lookup::Found(spec),
        Some(name) => spec
            .subcommand(name)
            .map_or(Lookup::UnknownSubcommand(spec), Lookup::Found),
    }
}

/// The command of this name, in any case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Spec> {
    let mut lower = [0; NAME_BYTES_MAX];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    BY_NAME.get(&*lower).copied()
}

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Spec, foldhash::fast::FixedState>> =
    LazyLock::new(|| {
        COMMANDS
            .iter()
            .map(|spec| (spec.name.as_bytes(), *spec))
            .collect()
    });

/// The handler of a command that only holds subcommands.
pub(crate) fn never_run(
    call: &mut Call<'_>,
    _: Args<'_>,
    _: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    Err(CommandError::arity(call.spec))
}

/// No name is longer.
const NAME_BYTES_MAX: usize = 32;
