//! `COMMANDLOG GET | LEN | RESET | HELP`: the slow log, and logs of large requests and replies.
//!
//! Not there yet: large requests and replies are not logged, so their logs are empty.

mod entries;
mod help;

use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Shows the commands that took long or were large.",
    since: "8.1.0",
    ..Spec::container(
        "commandlog",
        &[&entries::GET, &help::SPEC, &entries::LEN, &entries::RESET],
    )
};
