//! `PING [message]`
//!
//! Replies with the message, or with `PONG`.
//!
//! Behaviour worth knowing:
//! - A RESP2 client that listens to channels gets an array of `pong` and the message.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "ping",
    arity: -1,
    syntax: "[message]",
    flags: Flags::FAST.and(Flags::SUBSCRIBED),
    acl: Acl::CONNECTION,
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    group: Group::Connection,
    summary: "Answers, which shows that the server is alive.",
    since: "1.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.len() > 1 {
        return Err(CommandError::arity(call.spec));
    }
    let message = args.next();

    if call.client().is_subscriber() && reply.version() == Version::Resp2 {
        reply.array(2);
        reply.bulk(b"pong");
        reply.bulk(message.unwrap_or_default());
        return Ok(Flow::Done);
    }
    match message {
        Some(message) => reply.bulk(message),
        None => reply.simple("PONG"),
    }
    Ok(Flow::Done)
}
