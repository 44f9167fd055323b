//! `OBJECT subcommand`
//!
//! Tells how keys are kept.
//!
//! Behaviour worth knowing:
//! - To ask is no access: the idle time goes on.

mod facts;
mod help;

use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    summary: "Tells how keys are kept.",
    since: "2.2.3",
    ..Spec::container(
        "object",
        &[
            &facts::ENCODING,
            &facts::FREQ,
            &help::SPEC,
            &facts::IDLETIME,
            &facts::REFCOUNT,
        ],
    )
};
