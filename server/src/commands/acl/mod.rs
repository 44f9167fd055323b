//! `ACL CAT | GETUSER | LIST | USERS | WHOAMI | HELP`: the one user that there is.
//!
//! Not there yet: other users, and rules for the default one.

mod cat;
mod help;
mod users;

use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::Server,
    summary: "Shows who may do what.",
    since: "6.0.0",
    ..Spec::container(
        "acl",
        &[
            &cat::SPEC,
            &users::GETUSER,
            &help::SPEC,
            &users::LIST,
            &users::USERS,
            &users::WHOAMI,
        ],
    )
};
