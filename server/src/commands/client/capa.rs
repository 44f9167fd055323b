//! `CLIENT CAPA capability [capability ...]`
//!
//! Notes what the client can do. Replies `OK`; a capability that is not known is ignored.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|capa",
    arity: -3,
    syntax: "capability...",
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Notes what the client can do.",
    since: "8.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    for capability in args {
        call.client().capa_redirect |= is_word(capability, "redirect");
    }
    reply.ok();
    Ok(Flow::Done)
}
