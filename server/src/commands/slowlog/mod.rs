//! `SLOWLOG GET | LEN | RESET | HELP`: the commands that took long.
//!
//! Behaviour worth knowing:
//! - With `slowlog-log-slower-than` at its default, commands that take constant or logarithmic time
//!   are measured only if they move many bytes: see the server's `timing.rs`.
//! - A command that waited took what its end took, not the time of the wait.

mod get;
mod help;
mod len;

pub(super) use self::get::parse_count;
pub(super) use self::get::write_entries;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Shows the commands that took long.",
    since: "2.2.12",
    ..Spec::container(
        "slowlog",
        &[&get::SPEC, &help::SPEC, &len::SPEC, &len::RESET],
    )
};

const FLAGS: Flags = Flags::ADMIN.and(Flags::LOADING).and(Flags::STALE);
