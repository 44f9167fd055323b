//! `ACL GETUSER user`, `ACL LIST`, `ACL USERS` and `ACL WHOAMI`
//!
//! Behaviour worth knowing:
//! - A password is shown by its SHA-256.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::USER;
use crate::error::CommandError;
use crate::sha256;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const GETUSER: Spec = Spec {
    name: "acl|getuser",
    arity: 3,
    syntax: "username",
    flags: ADMIN_FLAGS,
    group: Group::Server,
    summary: "Tells what a user may do.",
    since: "6.0.0",
    history: &[
        ("6.2.0", "Shows patterns of channels."),
        (
            "7.0.0",
            "Shows selectors, and patterns as the rules that make them.",
        ),
        ("9.1.0", "Shows rules about databases."),
    ],
    ..Spec::of(getuser)
};

pub(super) const LIST: Spec = Spec {
    name: "acl|list",
    arity: 2,
    flags: ADMIN_FLAGS,
    group: Group::Server,
    summary: "Lists the users, as a configuration would name them.",
    since: "6.0.0",
    ..Spec::of(list)
};

pub(super) const USERS: Spec = Spec {
    name: "acl|users",
    arity: 2,
    flags: ADMIN_FLAGS,
    group: Group::Server,
    summary: "Lists the names of the users.",
    since: "6.0.0",
    ..Spec::of(users)
};

pub(super) const WHOAMI: Spec = Spec {
    name: "acl|whoami",
    arity: 2,
    flags: FLAGS,
    group: Group::Server,
    summary: "Returns the name of the user that asks.",
    since: "6.0.0",
    ..Spec::of(whoami)
};

const FLAGS: Flags = Flags::NOSCRIPT.and(Flags::LOADING).and(Flags::STALE);
const ADMIN_FLAGS: Flags = FLAGS.and(Flags::ADMIN);

fn getuser(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.bytes()? != USER.as_bytes() {
        reply.null();
        return Ok(Flow::Done);
    }
    reply.late_map(7);
    reply.bulk(b"flags");
    let digest = password_digest(call);
    reply.late_set(if digest.is_some() { 1 } else { 2 });
    reply.bulk(b"on");
    if digest.is_none() {
        reply.bulk(b"nopass");
    }
    reply.bulk(b"passwords");
    reply.array(usize::from(digest.is_some()));
    if let Some(digest) = digest {
        reply.bulk(digest.as_bytes());
    }
    let rules = [
        ("commands", "+@all"),
        ("keys", "~*"),
        ("channels", "&*"),
        ("databases", "alldbs"),
    ];
    for (name, rule) in rules {
        reply.bulk(name.as_bytes());
        reply.bulk(rule.as_bytes());
    }
    reply.bulk(b"selectors");
    reply.array(0);
    Ok(Flow::Done)
}

fn list(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.array(1);
    let digest = password_digest(call);
    let password = digest.map_or_else(|| "nopass".to_owned(), |digest| format!("#{digest}"));
    reply.bulk(format!("user default on {password} ~* &* +@all").as_bytes());
    Ok(Flow::Done)
}

fn users(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.array(1);
    reply.bulk(USER.as_bytes());
    Ok(Flow::Done)
}

fn whoami(
    _: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.bulk(USER.as_bytes());
    Ok(Flow::Done)
}

fn password_digest(call: &Call<'_>) -> Option<String> {
    let password = call.state.config.settings().requirepass.as_ref();
    password.map(|password| sha256::hex_digest(password))
}
