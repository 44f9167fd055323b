//! `CLIENT`: the caller's connection, and those of others.

mod caching;
mod capa;
mod getredir;
mod help;
mod id;
mod import_source;
mod kill;
mod list;
pub(super) mod name;
mod no_evict;
mod no_touch;
mod pause;
mod reply;
mod select;
mod setinfo;
mod tracking;
mod trackinginfo;
mod unblock;

use crate::args::Args;
use crate::args::text;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Connection,
    summary: "Tells of connections, and changes what they do.",
    since: "2.4.0",
    ..Spec::container(
        "client",
        &[
            &caching::SPEC,
            &capa::SPEC,
            &getredir::SPEC,
            &help::SPEC,
            &id::SPEC,
            &import_source::SPEC,
            &kill::SPEC,
            &list::INFO,
            &list::SPEC,
            &name::GETNAME,
            &name::SETNAME,
            &no_evict::SPEC,
            &no_touch::SPEC,
            &pause::SPEC,
            &pause::UNPAUSE,
            &reply::SPEC,
            &setinfo::SPEC,
            &tracking::SPEC,
            &trackinginfo::SPEC,
            &unblock::SPEC,
        ],
    )
};

/// What all but the help have in common.
const FLAGS: Flags = Flags::NOSCRIPT.and(Flags::LOADING).and(Flags::STALE);

/// Reads `ON` or `OFF`.
fn switch(args: &mut Args<'_>) -> Result<bool, CommandError> {
    let is_on = args.keyword("on");
    if is_on || args.keyword("off") {
        Ok(is_on)
    } else {
        Err(CommandError::Syntax)
    }
}

/// Whether a text may stand in a line of `CLIENT LIST`, whose fields are parted by blanks.
fn is_printable(bytes: &[u8]) -> bool {
    text(bytes).iter().all(u8::is_ascii_graphic)
}
