//! The command table. To add a command: write its file beside the others, then list its `SPEC` here.

mod command;
mod config;
mod discard;
mod echo;
mod encode;
mod exec;
mod info;
mod multi;
mod ping;
mod publish;
mod pubsub;
mod read_args;
mod subscribe;
mod trim_args;
mod unsubscribe;
mod unwatch;
mod watch;
mod xadd;
mod xlen;
mod xread;
mod xreadgroup;

use std::collections::HashMap;
use std::sync::LazyLock;

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Spec;

/// Every command, in no particular order. `COMMAND` lists them by name.
pub static COMMANDS: &[&Spec] = &[
    &command::SPEC,
    &config::SPEC,
    &discard::SPEC,
    &echo::SPEC,
    &exec::SPEC,
    &info::SPEC,
    &multi::SPEC,
    &ping::SPEC,
    &publish::SPEC,
    &pubsub::SPEC,
    &subscribe::PSUBSCRIBE,
    &subscribe::SPEC,
    &unsubscribe::PUNSUBSCRIBE,
    &unsubscribe::SPEC,
    &unwatch::SPEC,
    &watch::SPEC,
    &xadd::SPEC,
    &xlen::SPEC,
    &xread::SPEC,
    &xreadgroup::SPEC,
];

/// The command of this name, in any case, whatever a server's configuration calls it.
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
