//! `LATENCY DOCTOR | GRAPH | HISTOGRAM | HISTORY | LATEST | RESET | HELP`
//!
//! Shows how long commands take, and what took at least `latency-monitor-threshold` milliseconds.
//!
//! Behaviour worth knowing:
//! - The events here are `command`, `fast-command` and `expire-cycle`; what the others of the
//!   reference are about (disk, forks, eviction) is not there.

mod doctor;
mod events;
mod graph;
mod help;
mod histogram;

use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Shows what took long in the server.",
    since: "2.8.13",
    ..Spec::container(
        "latency",
        &[
            &doctor::SPEC,
            &graph::SPEC,
            &help::SPEC,
            &histogram::SPEC,
            &events::HISTORY,
            &events::LATEST,
            &events::RESET,
        ],
    )
};

/// What the subcommands have in common.
const USUAL: Spec = Spec {
    flags: Flags::ADMIN
        .and(Flags::NOSCRIPT)
        .and(Flags::LOADING)
        .and(Flags::STALE),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    group: Group::Server,
    since: "2.8.13",
    ..Spec::of(super::never_run)
};
