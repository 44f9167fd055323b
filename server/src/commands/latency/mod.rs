//! `LATENCY DOCTOR | GRAPH | HISTOGRAM | HISTORY | LATEST | RESET | HELP`
//!
//! Not there yet: events that took long are not sampled and no percentiles are kept, so there is
//! nothing to show. `SLOWLOG` shows commands that took long.

mod events;
mod help;

use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Shows what took long in the server.",
    since: "2.8.13",
    ..Spec::container(
        "latency",
        &[
            &events::DOCTOR,
            &events::GRAPH,
            &help::SPEC,
            &events::HISTOGRAM,
            &events::HISTORY,
            &events::LATEST,
            &events::RESET,
        ],
    )
};
