//! `CLIENT REPLY ON | OFF | SKIP`
//!
//! Silences all replies, those of the next command, or none. Only `ON` is answered, with `OK`.
//!
//! Behaviour worth knowing:
//! - Messages of channels come all the same.
//! - A command that waits is the next command until it is answered.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
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
    name: "client|reply",
    arity: 3,
    syntax: "action(ON|OFF|SKIP)",
    flags: FLAGS.and(Flags::ALLOW_BUSY).and(Flags::NO_MULTI),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Silences replies.",
    since: "3.2.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let client = call.client();
    if args.keyword("on") {
        client.reply_mode = ReplyMode::On;
        reply.ok();
    } else if args.keyword("off") {
        client.reply_mode = ReplyMode::Off;
    } else if args.keyword("skip") {
        if client.reply_mode != ReplyMode::Off {
            client.reply_mode = ReplyMode::SkipNext;
        }
    } else {
        return Err(CommandError::Syntax);
    }
    Ok(Flow::Done)
}
