//! `CLIENT SETINFO LIB-NAME | LIB-VER value`
//!
//! Notes which library the client uses. An empty value takes it away.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::is_printable;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|setinfo",
    arity: 4,
    syntax: "attr(LIB-NAME libname | LIB-VER libver)",
    flags: FLAGS.and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    group: Group::Connection,
    summary: "Notes which library the client uses.",
    since: "7.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let attribute = args.bytes()?;
    let value = args.bytes()?;
    let client = call.client();
    let slot = if is_word(attribute, "lib-name") {
        &mut client.lib_name
    } else if is_word(attribute, "lib-ver") {
        &mut client.lib_version
    } else {
        return Err(ClientError::UnknownInfo(attribute.to_vec()).into());
    };
    if !is_printable(value) {
        return Err(ClientError::InvalidInfo(attribute.to_vec()).into());
    }

    *slot = value.to_vec();

    reply.ok();
    Ok(Flow::Done)
}
