//! `MEMORY subcommand`
//!
//! Tells what takes how much memory.
//!
//! Behaviour worth knowing:
//! - All numbers are the bytes that keys and values hold, as this server counts them. What the
//!   allocator adds to that belongs to the process and not to one server, and is not known here.

mod doctor;
mod help;
mod malloc_stats;
mod purge;
mod stats;
mod usage;

use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Tells what takes how much memory.",
    since: "4.0.0",
    ..Spec::container(
        "memory",
        &[
            &doctor::SPEC,
            &help::SPEC,
            &malloc_stats::SPEC,
            &purge::SPEC,
            &stats::SPEC,
            &usage::SPEC,
        ],
    )
};
