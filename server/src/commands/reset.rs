//! `RESET`
//!
//! Makes the connection as good as new: database 0, RESP2, no name, no transaction, no subscriptions,
//! no monitor, not let in if there is a password. Replies `RESET`.
//!
//! Behaviour worth knowing:
//! - What the client's library said about itself stays.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ReplyMode;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "reset",
    arity: 1,
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::NO_AUTH)
        .and(Flags::ALLOW_BUSY)
        .and(Flags::SUBSCRIBED)
        .and(Flags::UNQUEUED),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Makes the connection as good as new.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let must_authenticate = call.state.config.settings().requirepass.is_some();
    call.state.discard(call.id);
    call.state.stop_tracking(call.id);
    call.state.unsubscribe_all(call.id);
    call.state.stop_monitoring(call.id);
    let client = call.client();
    client.db = 0;
    client.version = Version::Resp2;
    client.authenticated = !must_authenticate;
    client.name = Vec::new();
    client.no_touch = false;
    client.import_source = false;
    client.no_evict = false;
    client.readonly = false;
    client.asking = false;
    if client.reply_mode == ReplyMode::Off {
        client.reply_mode = ReplyMode::On;
    }

    reply.set_version(Version::Resp2);
    reply.simple("RESET");
    Ok(Flow::Done)
}
