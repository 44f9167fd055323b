//! `HELLO [version [AUTH username password] [SETNAME name]]`
//!
//! Agrees on the version of the protocol, lets the client in, and tells what this server is.
//!
//! Behaviour worth knowing:
//! - The reply comes in the version that was asked for.
//! - Options come in any order and may repeat; the last one counts. Nothing changes if one is wrong.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::Version;

use super::auth;
use super::client::name::check_name;
use super::module;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::server_info::Identity;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "hello",
    arity: -1,
    syntax: "[arguments(protover:integer [AUTH auth(username password)] [SETNAME clientname])]",
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::NO_AUTH)
        .and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Agrees on the version of the protocol.",
    since: "6.0.0",
    history: &[
        (
            "8.1.0",
            "Tells the `availability_zone`, if the configuration names one.",
        ),
        (
            "6.2.0",
            "Without a version it tells about the connection as it is.",
        ),
    ],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let hello = Hello::parse(args)?;

    if let Some((user, password)) = hello.auth {
        auth::authenticate(call, user, password)?;
    }
    if !call.client().authenticated {
        return Err(ClientError::HelloNoAuth.into());
    }
    let client = call.client();
    if let Some(name) = hello.name {
        client.name = name.to_vec();
    }
    if let Some(version) = hello.version {
        client.version = version;
        reply.set_version(version);
    }

    introduce(call, reply);
    Ok(Flow::Done)
}

struct Hello<'a> {
    version: Option<Version>,
    auth: Option<(&'a [u8], &'a [u8])>,
    name: Option<&'a [u8]>,
}

impl<'a> Hello<'a> {
    fn parse(mut args: Args<'a>) -> Result<Self, CommandError> {
        let mut hello = Self {
            version: None,
            auth: None,
            name: None,
        };
        if args.is_empty() {
            return Ok(hello);
        }
        hello.version = match args.integer_or(ClientError::HelloVersion.into())? {
            2 => Some(Version::Resp2),
            3 => Some(Version::Resp3),
            _ => return Err(ClientError::NoProto.into()),
        };
        while !args.is_empty() {
            if args.keyword_with("auth", 2) {
                hello.auth = Some((args.bytes()?, args.bytes()?));
            } else if args.keyword_with("setname", 1) {
                let name = args.bytes()?;
                check_name(name)?;
                hello.name = Some(name);
            } else {
                return Err(ClientError::HelloOption(args.bytes()?.to_vec()).into());
            }
        }
        Ok(hello)
    }
}

/// Whether an argument of a `HELLO` is a user or a password, as far as the command is read: that ends
/// at its first fault.
pub(crate) fn is_secret(request: Request<'_>, index: usize) -> bool {
    let mut args = Args::new(request, 1);
    if !matches!(args.integer(), Ok(2 | 3)) {
        return false;
    }
    while !args.is_empty() {
        let at = request.len() - args.len();
        if args.keyword_with("auth", 2) {
            if index == at + 1 || index == at + 2 {
                return true;
            }
            args = Args::new(request, at + 3);
        } else if args.keyword_with("setname", 1) {
            if args.bytes().map_or(true, |name| check_name(name).is_err()) {
                return false;
            }
        } else {
            return false;
        }
    }
    false
}

/// Says what this server is.
fn introduce(call: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
    let settings = call.state.config.settings();
    let compat = settings.compat;
    let identity = Identity::of(settings);
    let zone = settings.availability_zone.as_deref();
    reply.map(7 + usize::from(zone.is_some()));
    reply.bulk(b"server");
    reply.bulk(identity.server.as_bytes());
    reply.bulk(b"version");
    reply.bulk(identity.version.as_bytes());
    reply.bulk(b"proto");
    reply.integer(reply.version().number());
    reply.bulk(b"id");
    reply.unsigned(call.id.number);
    reply.bulk(b"mode");
    let mode = call.state.cluster.is_some();
    reply.bulk(if mode { b"cluster" } else { b"standalone" });
    reply.bulk(b"role");
    let is_replica = call.state.is_on_replica(call.id);
    reply.bulk(if is_replica { b"replica" } else { b"master" });
    reply.bulk(b"modules");
    module::write_list(compat, reply);
    if let Some(zone) = zone {
        reply.bulk(b"availability_zone");
        reply.bulk(zone);
    }
}
