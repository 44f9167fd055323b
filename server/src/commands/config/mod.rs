//! `CONFIG GET | SET | RESETSTAT | REWRITE | HELP`: the configuration of the running server.

mod get;
mod help;
mod resetstat;
mod rewrite;
mod set;

use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Reads and changes the configuration.",
    since: "2.0.0",
    ..Spec::container(
        "config",
        &[
            &get::SPEC,
            &help::SPEC,
            &resetstat::SPEC,
            &rewrite::SPEC,
            &set::SPEC,
        ],
    )
};

const FLAGS: Flags = Flags::ADMIN
    .and(Flags::NOSCRIPT)
    .and(Flags::LOADING)
    .and(Flags::STALE);
const TO_ALL_NODES: &[&str] = &["request_policy:all_nodes", "response_policy:all_succeeded"];
