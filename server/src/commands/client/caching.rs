//! `CLIENT CACHING YES | NO`
//!
//! Chooses whether the keys of the next command, or of the next transaction, are tracked: `YES` for a client
//! of `OPTIN`, `NO` for one of `OPTOUT`.
//!
//! Behaviour worth knowing:
//! - Commands on clients, as this one, are not the next command.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::TrackingError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;
use crate::tracking::Mode;

pub(super) const SPEC: Spec = Spec {
    name: "client|caching",
    arity: 3,
    syntax: "mode(YES|NO)",
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Chooses whether the keys of the next command are tracked.",
    since: "6.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let tracking = call.client().tracking.as_deref_mut();
    let tracking = tracking.filter(|tracking| tracking.is_on);
    let tracking = tracking.ok_or(TrackingError::Off)?;
    let (mode, error) = if args.keyword("yes") {
        (Mode::OptIn, TrackingError::NotOptIn)
    } else if args.keyword("no") {
        (Mode::OptOut, TrackingError::NotOptOut)
    } else {
        return Err(CommandError::Syntax);
    };
    if tracking.mode != mode {
        return Err(error.into());
    }

    tracking.is_caching = true;

    reply.ok();
    Ok(Flow::Done)
}
