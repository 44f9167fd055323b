//! `CLIENT TRACKINGINFO`
//!
//! Replies with what the client asked for with `CLIENT TRACKING`: flags, who hears in its place, and
//! prefixes.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::list::redirect;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;
use crate::tracking::Mode;
use crate::tracking::Tracking;

pub(super) const SPEC: Spec = Spec {
    name: "client|trackinginfo",
    arity: 2,
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Tells whether keys are tracked for the client.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let client = call.client();
    let none = Tracking::default();
    let tracking = client.tracking.as_deref().unwrap_or(&none);
    let flags = flags(tracking);

    reply.map(3);
    reply.bulk(b"flags");
    reply.late_set(flags.len());
    for flag in flags {
        reply.bulk(flag.as_bytes());
    }
    reply.bulk(b"redirect");
    reply.integer(redirect(client));
    reply.bulk(b"prefixes");
    reply.array(tracking.prefixes.len());
    for prefix in &tracking.prefixes {
        reply.bulk(prefix);
    }
    Ok(Flow::Done)
}

fn flags(tracking: &Tracking) -> Vec<&'static str> {
    let is_opt_in = tracking.mode == Mode::OptIn;
    let is_opt_out = tracking.mode == Mode::OptOut;
    [
        (tracking.is_on, "on"),
        (!tracking.is_on, "off"),
        (tracking.mode == Mode::Broadcast, "bcast"),
        (is_opt_in, "optin"),
        (is_opt_in && tracking.is_caching, "caching-yes"),
        (is_opt_out, "optout"),
        (is_opt_out && tracking.is_caching, "caching-no"),
        (tracking.no_loop, "noloop"),
        (tracking.is_redirect_broken, "broken_redirect"),
    ]
    .into_iter()
    .filter_map(|(is_set, flag)| is_set.then_some(flag))
    .collect()
}
